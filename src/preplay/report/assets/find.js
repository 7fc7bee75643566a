// Search for a position: by FEN, by moves from the start, or by moves anywhere.

const plainMove = (text) => text.replace(/[+#!?]/g, '').replace(/^0-0-0/, 'O-O-O').replace(/^0-0/, 'O-O');

function readMoves(text) {
  return text.replace(/\{[^}]*\}|\([^)]*\)/g, ' ').replace(/\d+\s*(?:\.+|…)/g, ' ').replace(/(?:1-0|0-1|1\/2-1\/2|\*)\s*$/, ' ')
    .split(/[\s,]+/).filter(Boolean);
}

// Whether a text means the move that is called `name` by the data and `said` by people.
function meansMove(text, name, said, chess) {
  if (text === name || text === said) return true;
  if (!chess) return false;
  const [asked, plain] = [plainMove(text), plainMove(said)];
  return asked === plain || asked.replace(/x/g, '') === plain.replace(/x/g, '') || asked.toLowerCase() === name;
}

const sameMove = (view, k, text, chess) => meansMove(text, view.name(k), view.say(k), chess);

// How many of the moves before the start a line begins with.
function movesBefore({ before, played, chess }, moves) {
  const other = before.findIndex((said, k) => k >= moves.length || !meansMove(moves[k], played[k], said, chess));
  return other < 0 ? before.length : other;
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
  // As far as the book knows a line.
  const follow = (line) => {
    let at = 0;
    for (let matched = 0; ; matched += 1) {
      const next = matched < line.length ? view.children(at).find((c) => sameMove(view, c, line[matched], data.chess)) : undefined;
      if (next === undefined) return { at, matched };
      at = next;
    }
  };
  // The line may be told from the very beginning, with the moves before the start.
  const early = movesBefore(data, moves);
  const whole = early > 0 && early === data.before.length;
  let line = moves;
  if (whole && follow(line).matched < line.length) line = moves.slice(early);
  const { at, matched } = follow(line);
  if (matched === line.length) return { nodes: [at], message: 'Found.' };
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
  if (early === moves.length) return { nodes: [0], message: `The book starts after ${data.before.join(' ')}.` };
  if (matched || whole) return { nodes: [at], message: `The book knows this up to ${matched ? numbers.line(view, view.path(at)) : 'its start'}, not ${line[matched]}.` };
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
