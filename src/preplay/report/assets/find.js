// Search for a position: by FEN, by moves from the start, or by moves anywhere.

const plainMove = (text) => text.replace(/[+#!?]/g, '').replace(/^0-0-0/, 'O-O-O').replace(/^0-0/, 'O-O');

function readMoves(text) {
  return text.replace(/\{[^}]*\}|\([^)]*\)/g, ' ').replace(/\d+\s*(?:\.+|…)/g, ' ').replace(/(?:1-0|0-1|1\/2-1\/2|\*)\s*$/, ' ')
    .split(/[\s,]+/).filter(Boolean);
}

function sameMove(view, k, text, chess) {
  if (text === view.name(k) || text === view.say(k)) return true;
  if (!chess) return false;
  const [asked, said] = [plainMove(text), plainMove(view.say(k))];
  return asked === said || asked.replace(/x/g, '') === said.replace(/x/g, '') || asked.toLowerCase() === view.name(k);
}

function looksLikeFen(text) {
  return /^[pnbrqkPNBRQK1-8]+(?:\/[pnbrqkPNBRQK1-8]+){7}/.test(text.trim());
}

// {nodes, message}: the positions found, the most frequent first, and a sentence about them.
function searchTree(app, text) {
  const { view, data, numbers } = app;
  const byReach = (nodes) => nodes.sort((a, b) => view.reach[b] - view.reach[a]);
  if (data.chess && looksLikeFen(text)) {
    const wanted = readFen(text);
    const turn = text.trim().split(/\s+/).length > 1;
    const men = wanted.board.join(' ');
    const nodes = [];
    for (let k = 0; k < view.n; k += 1) {
      const here = app.position(k);
      if (here.board.join(' ') === men && (!turn || here.white === wanted.white)) nodes.push(k);
    }
    return { nodes: byReach(nodes), message: nodes.length ? `This position is in the book, reached in ${plural(nodes.length, 'way')}.` : 'This position is not in the book.' };
  }
  const moves = readMoves(text);
  if (!moves.length) return { nodes: [], message: '' };
  const step = (k, move) => view.children(k).find((c) => sameMove(view, c, move, data.chess));
  let at = 0;
  let matched = 0;
  while (matched < moves.length && step(at, moves[matched])) {
    at = step(at, moves[matched]);
    matched += 1;
  }
  if (matched === moves.length) return { nodes: [at], message: 'Found.' };
  const inside = [];
  for (let k = 1; k < view.n; k += 1) {
    let j = k;
    let m = moves.length - 1;
    while (m >= 0 && j > 0 && sameMove(view, j, moves[m], data.chess)) {
      j = view.parent[j];
      m -= 1;
    }
    if (m < 0) inside.push(k);
  }
  if (inside.length) return { nodes: byReach(inside), message: `${plural(inside.length, 'place')} with ${moves.join(' ')}.` };
  if (matched) return { nodes: [at], message: `The book knows this up to ${numbers.line(view, view.path(at))}, not ${moves[matched]}.` };
  return { nodes: [], message: `Nothing found for “${text.trim().slice(0, 60)}”.` };
}

function makeFinder(app) {
  const results = h('ul', { class: 'found' });
  const message = h('p', { class: 'aside', role: 'status' });
  const field = h('input', {
    type: 'search',
    id: 'find',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: app.data.chess ? 'Moves or FEN, e.g. 1. e4 e5' : 'Moves, separated by spaces',
  });
  function clear() {
    results.replaceChildren();
    message.textContent = '';
  }
  function run() {
    const { nodes, message: said } = searchTree(app, field.value);
    message.textContent = said;
    results.replaceChildren(...(nodes.length > 1 ? nodes.slice(0, 12) : []).map((k) => h('li', {},
      h('button', { type: 'button', class: 'move', click: () => app.go(k) }, app.numbers.line(app.view, app.view.path(k)) || 'Start'),
      h('span', { class: 'note' }, ` ${often(app.view.reach[k])}`))));
    if (nodes.length > 12) results.append(h('li', { class: 'note' }, `and ${nodes.length - 12} more`));
    if (nodes.length) app.go(nodes[0]);
  }
  const form = h('form', { class: 'finder', role: 'search', submit: (event) => {
    event.preventDefault();
    run();
  } }, h('label', { for: 'find' }, 'Find a position'), h('div', { class: 'with-button' }, field, h('button', { type: 'submit' }, 'Find')), message, results);
  field.addEventListener('input', () => {
    if (!field.value) clear();
  });
  return { element: form, focus: () => field.focus() };
}
