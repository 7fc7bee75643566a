// The tree behind the page: flat columns, parents before children, siblings side by side.
import { START_FEN } from './chess.js';

export function decodeTree(columns) {
  const n = columns.kids.length;
  const parent = new Int32Array(n).fill(-1);
  const first = new Int32Array(n + 1);
  const depth = new Int32Array(n);
  first[0] = 1;
  for (let k = 0; k < n; k += 1) {
    first[k + 1] = first[k] + columns.kids[k];
    for (let c = first[k]; c < first[k + 1]; c += 1) {
      parent[c] = k;
      depth[c] = depth[k] + 1;
    }
  }
  const p = Float64Array.from([1, ...columns.p], (x) => x ?? 0);
  const reach = new Float64Array(n);
  reach[0] = 1;
  for (let k = 1; k < n; k += 1) reach[k] = reach[parent[k]] * p[k];
  return {
    n,
    parent,
    first,
    depth,
    p,
    reach,
    player: columns.player,
    value: columns.value,
    columns,
    leaf: (k) => first[k] === first[k + 1],
    children(k) {
      return Array.from({ length: first[k + 1] - first[k] }, (_, j) => first[k] + j);
    },
    name: (k) => columns.names[columns.move[k - 1]],
    say: (k) => (columns.labels ? columns.labels[columns.say[k - 1]] : columns.names[columns.move[k - 1]]),
    path(k) {
      const steps = [];
      for (let j = k; j > 0; j = parent[j]) steps.push(j);
      return steps.reverse();
    },
  };
}

// The likeliest child of a history; -1 where there is none.
export function likeliest(tree, k) {
  let best = -1;
  for (let c = tree.first[k]; c < tree.first[k + 1]; c += 1) if (best < 0 || tree.p[c] > tree.p[best]) best = c;
  return best;
}

// A pure book on its tree. `size` may be made smaller: the first so many in the order worth learning.
export function makeBook(data) {
  const tree = decodeTree(data.tree);
  const { n, parent, reach, value } = tree;
  const side = String(data.side);
  const { rank, end } = data.tree;
  const own = (k) => tree.player[k] === side;
  const sure = (k) => value[k] ?? 0.5;
  const order = [];
  for (let k = 0; k < n; k += 1) if (rank[k] >= 0) order[rank[k]] = k;

  const mass = new Float64Array(n); // value mass at the next own or last histories
  const gain = new Float64Array(n);
  for (let k = n - 1; k >= 0; k -= 1) {
    const stops = tree.leaf(k) || own(k);
    if (own(k) && !tree.leaf(k)) gain[k] = mass[k] - reach[k] * sure(k);
    if (k) mass[parent[k]] += stops ? reach[k] * sure(k) : mass[k];
  }

  const book = {
    ...tree,
    data,
    order,
    gain,
    own,
    whole: order.length,
    size: order.length,
    worth: new Float64Array(n),
    inside: (k) => rank[k] >= 0 && rank[k] < book.size,
    // Whether a line still follows the book (as it is chosen now) when it gets to k.
    followed(k) {
      for (let j = parent[k]; j >= 0; j = parent[j]) if (own(j)) return book.inside(j);
      return true;
    },
    endOf(k) {
      if (tree.leaf(k)) return end[k];
      return own(k) && !book.inside(k) ? 's' : '-';
    },
    choose(size) {
      book.size = size;
      for (let k = n - 1; k >= 0; k -= 1) {
        if (tree.leaf(k) || (own(k) && !book.inside(k))) book.worth[k] = sure(k);
        else book.worth[k] = tree.children(k).reduce((sum, c) => sum + tree.p[c] * book.worth[c], 0);
      }
    },
    // The child to walk on to: one that the book goes on from, and of those the likeliest.
    main(k) {
      let best = -1;
      for (let c = tree.first[k]; c < tree.first[k + 1]; c += 1) {
        const weight = tree.p[c] + (tree.leaf(c) ? 0 : 2);
        if (best < 0 || weight > tree.p[best] + (tree.leaf(best) ? 0 : 2)) best = c;
      }
      return best;
    },
  };
  book.choose(book.size);
  const last = new Set(order);
  let deepest = 0;
  for (const k of order) {
    let above = parent[k];
    while (above >= 0 && !own(above)) above = parent[above];
    last.delete(above);
    deepest = Math.max(deepest, tree.path(k).filter((j) => own(parent[j])).length + 1);
  }
  book.lines = last.size;
  book.deepest = deepest;
  return book;
}

// Where a move stands in the score: "3. d4", "3… Nf6", and plain names in other games.
export function numbering(data) {
  if (!data.chess) return { prefix: () => '', line: (tree, nodes) => nodes.map((k) => tree.say(k)).join(' ') };
  const fields = (data.start || START_FEN).split(' ');
  const offset = 2 * (Number(fields[5] || 1) - 1) + (fields[1] === 'b' ? 1 : 0);
  const prefix = (ply, opening) => {
    const half = offset + ply - 1;
    if (half % 2 === 0) return `${half / 2 + 1}. `;
    return opening ? `${(half + 1) / 2}… ` : '';
  };
  return {
    prefix,
    line: (tree, nodes) => nodes.map((k, j) => prefix(tree.depth[k], j === 0) + tree.say(k)).join(' '),
  };
}
