// Indicates where content can be scrolled.

/** Minimum number of pixels beyond an edge for which an indicator is shown. */
const MIN_DISTANCE = 2;

/** Sets `data-beyond` of an element to the edges beyond which the element has more content. */
export function showEdges(node) {
  const look = () => {
    const edges = {
      left: node.scrollLeft,
      right: node.scrollWidth - node.clientWidth - node.scrollLeft,
      top: node.scrollTop,
      bottom: node.scrollHeight - node.clientHeight - node.scrollTop,
    };
    node.dataset.beyond = Object.keys(edges).filter((edge) => edges[edge] > MIN_DISTANCE).join(" ");
  };
  node.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(node);
}
