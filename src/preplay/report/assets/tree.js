// The moves as a tree: a line runs on with the likeliest answers, what leaves it hangs below it.
// Branches are made when they are opened, so a large book opens as fast as a small one.

// A view gives: the tree; main(k); mine(k) whether the move into k is the book's; dim(k); ending(k).
function makeTreePane(app) {
  const { view, numbers } = app;
  const buttons = new Map();
  const endings = [];
  const blocks = new Map();
  const list = h('ul', { class: 'lines' });
  const element = h('nav', { class: 'tree', 'aria-label': 'Moves of the book' }, list);

  function moveButton(k, opening) {
    const before = numbers.prefix(view.depth[k], opening);
    const button = h('button', { type: 'button', class: 'move', 'data-node': k, click: () => app.go(k) },
      before && h('span', { class: 'number' }, before), view.say(k));
    buttons.set(k, button);
    paint(k, button);
    return button;
  }

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
    const block = { start, above, rendered: false };
    const branches = h('ul', { class: 'lines', hidden: true });
    const toggle = others.length
      ? h('button', { type: 'button', class: 'toggle', 'aria-expanded': 'false', 'aria-label': `${plural(others.length, 'other line')} off this one`, click: () => block.open(toggle.getAttribute('aria-expanded') !== 'true') },
        h('span', { class: 'caret', 'aria-hidden': 'true' }), h('span', { 'aria-hidden': 'true' }, String(others.length)))
      : h('span', { class: 'toggle none' });
    block.open = (wanted) => {
      if (!others.length) return;
      if (wanted && !block.rendered) {
        block.rendered = true;
        branches.append(...others.map((c) => makeBlock(c, block).element));
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

  // Open every branch on the way to k and mark it.
  function show(k) {
    for (const j of view.path(k)) if (blocks.has(j) === false && view.main(view.parent[j]) !== j) openAbove(j);
    for (const j of view.path(k)) if (blocks.has(j)) blocks.get(j).above?.open(true);
    const old = find('.move[aria-current]', element);
    if (old) old.removeAttribute('aria-current');
    const button = buttons.get(k);
    if (!button) {
      element.scrollTop = 0;
      return;
    }
    button.setAttribute('aria-current', 'true');
    const [box, frame] = [button.getBoundingClientRect(), element.getBoundingClientRect()];
    if (box.top < frame.top + 8 || box.bottom > frame.bottom - 8) element.scrollTop += box.top - frame.top - frame.height / 3;
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
