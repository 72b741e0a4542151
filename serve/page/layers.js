// Computes the layout of a graph: layers from left to right, with callers to the left of their callees.

/** Size of a node. */
export const NODE = { width: 216, height: 42 };
/** Vertical space between the nodes of a layer. */
const DOWN = 12;
/** Maximum number of nodes in a layer. Further nodes are only in the lists below the drawing. */
const MAX_NODES = 30;

/**
 * Returns the edges, and the nodes with their positions, of two trees with the same root.
 *
 * `left` and `right` are the roots in the answers of the server. The descendants of `left` are to its left, and their
 * edges point to the right. A definition that occurs several times is one node. `across` is the space between layers.
 */
export function layered(left, right, across) {
  const nodes = new Map([[right.id, { chunk: right, layer: 0 }]]);
  const edges = new Map();
  const hidden = collect(left, -1, nodes, edges) + collect(right, 1, nodes, edges);
  const layers = new Map();
  for (const node of nodes.values()) {
    layers.set(node.layer, [...(layers.get(node.layer) ?? []), node]);
  }
  const first = Math.min(...layers.keys());
  const most = Math.max(...[...layers.values()].map((layer) => layer.length));
  const height = most * (NODE.height + DOWN) - DOWN;
  const width = layers.size * (NODE.width + across) - across;
  for (const [number, layer] of layers) {
    const top = (height - (layer.length * (NODE.height + DOWN) - DOWN)) / 2;
    layer.forEach((node, at) => {
      node.x = (number - first) * (NODE.width + across);
      node.y = top + at * (NODE.height + DOWN);
    });
  }
  const placed = [...edges.values()].map((edge) => ({ ...edge, from: nodes.get(edge.from), to: nodes.get(edge.to) }));
  return { nodes: [...nodes.values()], edges: placed, width, height, hidden };
}

/** Adds the descendants of a root, level by level, in the order of their parents. Returns the number of hidden nodes. */
function collect(root, step, nodes, edges) {
  let level = [root];
  let hidden = 0;
  for (let layer = step; level.length > 0; layer += step) {
    const next = [];
    let room = MAX_NODES;
    for (const parent of level) {
      for (const child of parent.children ?? []) {
        if (!nodes.has(child.id)) {
          if (room === 0) {
            hidden += 1;
            continue;
          }
          room -= 1;
          nodes.set(child.id, { chunk: child, layer });
          next.push(child);
        }
        const [from, to] = step < 0 ? [child.id, parent.id] : [parent.id, child.id];
        edges.set(`${from}\n${to}`, { from, to, confidence: child.confidence ?? 1 });
      }
    }
    level = next;
  }
  return hidden;
}
