// Indicators of scrollable content.

/** Minimum distance of content beyond an edge, in pixels. */
const MIN_DISTANCE = 2;

/** Updates `data-beyond` with the edges beyond which an element has more content. */
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
