// The moves as a tree: a line runs on with the likeliest answers, what leaves it hangs below it and folds.
// Branches are made when they are opened, so a large book opens as fast as a small one.
import { h } from './dom.js';
import { often, percent, plural } from './words.js';

// A view gives: the tree; main(k); mine(k) whether the move into k is the book's; dim(k); ending(k).
export function makeTreePane(app) {
  const { view, numbers } = app;
  const buttons = new Map();
  const endings = [];
  const blocks = new Map();
  let current = null;
  const list = h('ul', { class: 'lines' });
  const nav = h('nav', { class: 'tree', tabindex: 0, 'aria-label': 'Moves of the book' }, list);
  const element = h('div', { class: 'tree-part' },
    h('div', { class: 'folding' }, h('button', { type: 'button', class: 'small', click: () => unfoldAll() }, 'Unfold all'), h('button', { type: 'button', class: 'small', click: () => foldAll() }, 'Fold all')),
    nav);

  function moveButton(k, opening) {
    const before = numbers.prefix(view.depth[k], opening);
    const button = h('button', { type: 'button', class: 'move', 'data-node': k },
      before && h('span', { class: 'number' }, before), view.say(k));
    buttons.set(k, button);
    paint(k, button);
    return button;
  }

  // One listener for all moves.
  nav.addEventListener('click', (event) => {
    const button = event.target.closest('.move');
    if (button) app.go(Number(button.dataset.node));
  });

  function paint(k, button) {
    button.classList.toggle('mine', view.mine(k));
    button.classList.toggle('beyond', view.dim(k));
  }

  function share(k) {
    return h('span', { class: view.own(view.parent[k]) ? 'share own' : 'share', title: often(view.reach[k]) }, percent(view.p[k], view.p[k] < 0.1 ? 1 : 0));
  }

  function makeBlock(start, above) {
    const nodes = start ? [start] : [];
    const others = [];
    for (let k = start; !view.leaf(k);) {
      const next = view.main(k);
      others.push(...view.children(k).filter((c) => c !== next).sort((a, b) => view.p[b] - view.p[a]));
      nodes.push(next);
      k = next;
    }
    const block = { start, below: [], above, rendered: false };
    const branches = h('ul', { class: 'lines', hidden: true });
    const toggle = others.length
      ? h('button', { type: 'button', class: 'toggle', 'aria-expanded': 'false', 'aria-label': `${plural(others.length, 'other line')} off this one`, click: () => block.open(toggle.getAttribute('aria-expanded') !== 'true') },
        h('span', { class: 'caret', 'aria-hidden': 'true' }), h('span', { 'aria-hidden': 'true' }, String(others.length)))
      : h('span', { class: 'toggle none' });
    block.open = (wanted) => {
      if (!others.length) return;
      if (wanted && !block.rendered) {
        block.rendered = true;
        block.below = others.map((c) => makeBlock(c, block));
        branches.append(...block.below.map((one) => one.element));
      }
      toggle.setAttribute('aria-expanded', wanted);
      branches.hidden = !wanted;
    };
    const last = nodes.length ? nodes[nodes.length - 1] : 0;
    const end = h('span', { class: 'ending' });
    endings.push({ k: last, end });
    paintEnding(last, end);
    block.element = h('li', {}, h('div', { class: 'line' }, toggle,
      h('span', { class: 'moves' }, start ? share(start) : null,
        nodes.map((k, j) => [moveButton(k, j === 0), ' ']), end)), branches);
    blocks.set(start, block);
    return block;
  }

  function paintEnding(k, end) {
    const text = view.ending(k);
    end.textContent = text || '';
    end.hidden = !text;
  }

  const root = makeBlock(0, null);
  root.open(true);
  list.append(root.element);

  function unfoldAll() {
    const waiting = [root];
    while (waiting.length) {
      const block = waiting.pop();
      block.open(true);
      waiting.push(...block.below);
    }
    show(app.at);
  }

  function foldAll() {
    for (const block of blocks.values()) if (block !== root) block.open(false);
    show(app.at);
  }

  // Open every branch on the way to k and mark it.
  function show(k) {
    for (const j of view.path(k)) if (blocks.has(j) === false && view.main(view.parent[j]) !== j) openAbove(j);
    for (const j of view.path(k)) if (blocks.has(j)) blocks.get(j).above?.open(true);
    current?.removeAttribute('aria-current');
    current = buttons.get(k) ?? null;
    if (!current) {
      nav.scrollTop = 0;
      return;
    }
    current.setAttribute('aria-current', 'true');
    if (!nav.offsetParent) return;
    const [box, frame] = [current.getBoundingClientRect(), nav.getBoundingClientRect()];
    if (box.top < frame.top + 8 || box.bottom > frame.bottom - 8) nav.scrollTop += box.top - frame.top - frame.height / 3;
  }

  // The branch that starts at j hangs from the block of its parent, which is open by now.
  function openAbove(j) {
    let k = view.parent[j];
    while (k && view.main(view.parent[k]) === k) k = view.parent[k];
    blocks.get(k).open(true);
  }

  function refresh() {
    buttons.forEach((button, k) => paint(k, button));
    endings.forEach(({ k, end }) => paintEnding(k, end));
  }

  return { element, show, refresh };
}
