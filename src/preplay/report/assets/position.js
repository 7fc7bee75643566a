// One position: the move to play or the answers to expect, what it is worth, why the book ends.

function factList(rows) {
  return h('dl', { class: 'facts' }, rows.filter(Boolean).map(([name, value, note]) =>
    h('div', {}, h('dt', {}, name), h('dd', {}, value, note && h('span', { class: 'note' }, ` ${note}`)))));
}

// The way here, each move a button.
function crumbs(app, k) {
  const { view, numbers } = app;
  const steps = view.path(k);
  return h('nav', { class: 'crumbs', 'aria-label': 'The way here' },
    h('button', { type: 'button', class: 'move', click: () => app.go(0), 'aria-current': k === 0 ? 'true' : null }, 'Start'),
    steps.map((j, at) => [' ', h('button', { type: 'button', class: 'move', click: () => app.go(j), 'aria-current': j === k ? 'true' : null },
      numbers.prefix(view.depth[j], at === 0) + view.say(j))]));
}

// Moves to choose from, as rows with a bar for their probability.
function moveRows(app, nodes, hint, kind) {
  const { view, numbers } = app;
  return h('ul', { class: `replies ${kind}` }, nodes.map((c) => {
    const bar = h('span', { class: 'bar', 'aria-hidden': 'true' }, h('span', {}));
    bar.firstChild.style.setProperty('--share', `${Math.max(0.5, 100 * view.p[c])}%`);
    return h('li', {}, h('button', { type: 'button', class: 'reply', 'data-node': c, click: () => app.go(c) },
      h('span', { class: 'name' }, numbers.prefix(view.depth[c], true) + view.say(c)), bar,
      h('span', { class: 'share' }, percent(view.p[c], view.p[c] < 0.1 ? 1 : 0)),
      h('span', { class: 'hint' }, hint(c))));
  }));
}

function byShare(view, k) {
  return view.children(k).sort((a, b) => view.p[b] - view.p[a]);
}

function valueText(value, data) {
  if (value === null || value === undefined) return ['not analysed', ''];
  const score = data.chess ? pawns(data.side === 1 ? value : 1 - value, data.model) : null;
  return [percent(value), score ? `(eval ${score})` : ''];
}

// What both sides have left, in games with a clock.
function clockFact(data, k) {
  if (!data.clock) return null;
  const unit = data.clock.unit === 'milliseconds' ? 'ms' : data.clock.unit;
  const [white, black] = data.clock.left[k].map((left) => Math.max(0, left).toLocaleString('en'));
  return ['Clocks', `${white} : ${black}`, unit];
}

function bookCard(app, k) {
  const { view: book, data, numbers } = app;
  const other = data.sides[2 - data.side];
  const { cost, budget } = data.worth;
  const reach = book.reach[k];
  const met = ['Met in', often(reach), reach < 0.995 ? `(${percent(reach)})` : ''];
  const end = book.endOf(k);
  const note = book.followed(k) ? null : h('p', { class: 'aside' }, 'Beyond the smaller book that you chose.');
  const parts = [note];
  if (end !== '-') {
    const [value, score] = valueText(book.value[k], data);
    parts.push(
      h('p', { class: 'verdict' }, 'The book ends here', h('span', { class: `pill end-${end}` }, END_NAMES[end])),
      h('p', {}, endReason(end, { reach, value: book.value[k], cost, budget, other, beyond: data.tree.beyond[k] })));
    if (end === 's') parts.push(h('p', { class: 'label' }, 'The whole book goes on with'), moveRows(app, byShare(book, k), () => '', 'mine'));
    parts.push(factList([met, end === 'g' ? null : ['Your expected score', value, score], clockFact(data, k)]));
    return parts;
  }
  if (book.own(k)) {
    const moves = byShare(book, k);
    const [alone, score] = valueText(book.value[k], data);
    const better = book.worth[k] - (book.value[k] ?? 0.5);
    parts.push(h('p', { class: 'label' }, moves.length > 1 ? 'Play one of' : 'Play'));
    if (moves.length > 1) parts.push(moveRows(app, moves, () => '', 'mine'));
    else {
      parts.push(h('button', { type: 'button', class: 'play', 'data-node': moves[0], click: () => app.go(moves[0]) },
        numbers.prefix(book.depth[moves[0]], true) + book.say(moves[0])));
    }
    parts.push(factList([
      met,
      ['On your own from here', alone, score],
      ['With the book', percent(book.worth[k]), `(${points(better)})`],
      ['This position adds', points(book.gain[k]), 'per 100 games'],
      ['In the order to learn', `no. ${(data.tree.rank[k] + 1).toLocaleString('en')}`, `of ${book.whole.toLocaleString('en')}`],
      clockFact(data, k),
    ]));
    if (book.gain[k] < 0) parts.push(h('p', { class: 'aside' }, 'By itself this move costs a little; it pays through the positions after it.'));
    return parts;
  }
  const replies = byShare(book, k);
  const chance = book.player[k] === 'c';
  parts.push(h('p', { class: 'label' }, chance ? 'Chance decides' : `${other} answers`),
    moveRows(app, replies, (c) => {
      const stop = book.endOf(c);
      if (stop !== '-') return h('span', { class: `pill end-${stop}` }, END_NAMES[stop]);
      if (!book.own(c)) return '';
      const next = book.main(c);
      return [h('span', { class: 'then' }, 'then '), h('strong', {}, book.say(next))];
    }, 'theirs'),
    factList([met, ['Your expected score', percent(book.worth[k]), 'with the book'], clockFact(data, k)]));
  return parts;
}

// The position's FEN to copy, and other ways into the same position.
function chessExtras(app, k) {
  const fen = writeFen(app.position(k));
  const field = h('input', { type: 'text', readonly: true, value: fen, 'aria-label': 'FEN of this position', focus: (event) => event.target.select() });
  const copy = h('button', { type: 'button', class: 'plain', click: () => {
    field.select();
    const done = () => announce('FEN copied');
    if (navigator.clipboard) navigator.clipboard.writeText(fen).then(done, () => document.execCommand('copy'));
    else document.execCommand('copy');
  } }, 'Copy');
  const others = app.twins(k);
  return [
    others.length > 0 && h('p', { class: 'aside' }, 'Also reached by ', others.slice(0, 3).map((j, at) => [at ? ' or ' : '',
      h('button', { type: 'button', class: 'move', click: () => app.go(j) }, app.numbers.line(app.view, app.view.path(j)))]), '.'),
    h('div', { class: 'fen' }, h('span', { class: 'label' }, 'FEN'), field, copy),
  ];
}

function makePositionCard(app, card) {
  const body = h('div', { class: 'position-body' });
  const element = section('position', 'This position', body);
  return {
    element,
    show(k) {
      const focused = element.contains(document.activeElement);
      body.replaceChildren(crumbs(app, k), ...card(app, k).filter(Boolean), ...(app.data.chess ? chessExtras(app, k).filter(Boolean) : []));
      if (focused) (find('.play, .reply', body) || find('.crumbs .move[aria-current]', body)).focus({ preventScroll: true });
    },
  };
}
