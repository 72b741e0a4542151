// Signs that something can be scrolled.

/** Distance in pixels from which on something counts as beyond an edge. */
const LEAST = 2;

/** Keeps in `data-beyond` at which edges of an element its content goes on. */
export function showEdges(node) {
  const look = () => {
    const edges = {
      left: node.scrollLeft,
      right: node.scrollWidth - node.clientWidth - node.scrollLeft,
      top: node.scrollTop,
      bottom: node.scrollHeight - node.clientHeight - node.scrollTop,
    };
    node.dataset.beyond = Object.keys(edges).filter((edge) => edges[edge] > LEAST).join(" ");
  };
  node.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(node);
}
