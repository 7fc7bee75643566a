// Putting it together: one current position that all parts follow.

function makeApp(data, view, flipped) {
  const app = {
    data,
    view,
    numbers: numbering(data),
    at: 0,
    flipped,
    quiz: null,
    listeners: [],
    visited: new Map(),
    position: data.chess ? positions(view, data.start) : null,
    go(k, options = {}) {
      const before = app.at;
      app.at = k;
      for (let j = k; j > 0; j = view.parent[j]) app.visited.set(view.parent[j], j);
      const animate = options.animate || view.parent[k] === before;
      app.listeners.forEach((listener) => listener(k, { ...options, animate }));
      if (!app.quizzing()) {
        announce(spoken(app, k));
        keepAddress(app);
      }
    },
    refresh() {
      app.listeners.forEach((listener) => listener(app.at, { changed: true }));
    },
    quizzing: () => Boolean(app.quiz && app.quiz.active()),
    setQuiz(on) {
      document.body.classList.toggle('quizzing', on);
      if (on && innerWidth <= 800) find('#main').scrollIntoView({ block: 'start' });
      app.refresh();
    },
    twins: () => [],
  };
  if (data.chess) {
    // Transpositions are looked up a moment after the page is there.
    const groups = new Map();
    app.twins = (k) => (groups.get(positionKey(app.position(k))) || []).filter((j) => j !== k);
    setTimeout(() => {
      for (let j = 0; j < view.n; j += 1) {
        const key = positionKey(app.position(j));
        if (groups.has(key)) groups.get(key).push(j);
        else groups.set(key, [j]);
      }
      if (!app.quizzing()) app.refresh();
      document.documentElement.dataset.settled = 'true';
    }, 150);
  }
  return app;
}

function spoken(app, k) {
  const { view, data, numbers } = app;
  const last = k ? numbers.line(view, [k]) : 'Start';
  if (data.kind !== 'book') return last;
  const end = view.endOf(k);
  if (end !== '-') return `${last}. The book ends here: ${END_NAMES[end]}.`;
  if (view.own(k)) return `${last}. Play ${view.say(view.main(k))}.`;
  return `${last}. Answers: ${byShare(view, k).slice(0, 4).map((c) => `${view.say(c)} ${percent(view.p[c], 0)}`).join(', ')}.`;
}

// The address names the position, so that it can be marked or sent. Browsers allow few changes a second.
function keepAddress(app) {
  clearTimeout(app.addressing);
  app.addressing = setTimeout(() => {
    const way = app.view.path(app.at).map((j) => encodeURIComponent(app.view.name(j))).join('/');
    try {
      history.replaceState(null, '', way ? `#/${way}` : '#');
    } catch { /* the address is a convenience */ }
  }, 300);
}

function addressed(view) {
  if (!location.hash.startsWith('#/')) return 0;
  let k = 0;
  for (const part of location.hash.slice(2).split('/')) {
    let name = part;
    try {
      name = decodeURIComponent(part);
    } catch { /* taken as it is */ }
    const next = view.children(k).find((c) => view.name(c) === name);
    if (next === undefined) return k;
    k = next;
  }
  return k;
}

// The board with its buttons; clicks on it walk the tree or answer the quiz.
function makeStage(app) {
  const { view, data } = app;
  const matching = (from, to) => view.children(app.at).filter((c) => {
    const name = view.name(c);
    return name.slice(0, 2) === squareName(from) && (name.slice(2, 4) === squareName(to) || name.slice(2, 4) === squareName(castleTarget(app.position(app.at), from, to)));
  }).sort((a, b) => view.p[b] - view.p[a]);
  const board = makeBoard({
    onMove(from, to) {
      if (app.quizzing()) return app.quiz.moved(from, to);
      const [c] = matching(from, to);
      if (c === undefined) return false;
      app.go(c);
      return true;
    },
    onPick(square) {
      if (app.quizzing()) return false;
      const name = squareName(square);
      const from = view.children(app.at).filter((c) => view.name(c).startsWith(name));
      const to = view.children(app.at).filter((c) => view.name(c).slice(2, 4) === name);
      const hit = from.length === 1 ? from : from.length === 0 && to.length === 1 ? to : [];
      if (hit.length) app.go(hit[0]);
      return hit.length > 0;
    },
  });
  function squaresOf(k) {
    const name = view.name(k);
    if (name === RESIGN) return null;
    const [from, to] = [squareAt(name), squareAt(name.slice(2))];
    const before = app.position(view.parent[k]);
    const king = before.board[from].toLowerCase() === 'k';
    // In king-takes-rook notation the king does not end on the rook's square.
    const castles = king && before.board[to] && isWhite(before.board[to]) === isWhite(before.board[from]);
    return { from, to: castles ? 8 * Math.floor(from / 8) + (to > from ? 6 : 2) : to };
  }
  app.listeners.push((k, { animate, reveal }) => {
    const position = app.position(k);
    const hide = app.quizzing() && !reveal;
    const mine = view.own(k);
    const nodes = hide || (data.kind === 'book' && view.endOf(k) !== '-') ? [] : byShare(view, k).filter((c) => view.p[c] >= 0.005 && view.name(c) !== RESIGN).slice(0, 8);
    board.show({
      position,
      flipped: app.flipped,
      last: k ? squaresOf(k) : null,
      arrows: nodes.map((c) => ({ ...squaresOf(c), share: view.p[c], kind: mine ? 'mine' : 'theirs' })),
      label: `${position.white ? 'White' : 'Black'} to move. ${describe(position)}`,
    }, animate);
  });
  const button = (label, path, action) => h('button', { type: 'button', class: 'plain icon', 'aria-label': label, title: label, click: action },
    s('svg', { viewBox: '0 0 24 24', width: 22, height: 22, 'aria-hidden': 'true' }, s('path', { d: path, fill: 'none', stroke: 'currentColor', 'stroke-width': 2.2, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' })));
  return h('section', { class: 'stage', 'aria-label': 'Board' }, h('div', { class: 'board-frame' }, board.element), h('div', { class: 'controls' },
    button('Start', 'M18 5l-7 7l7 7M7 5v14', () => walk(app, 'Home')), button('Back', 'M15 5l-7 7l7 7', () => walk(app, 'ArrowLeft')),
    button('Next', 'M9 5l7 7l-7 7', () => walk(app, 'ArrowRight')), button('End of the line', 'M6 5l7 7l-7 7M17 5v14', () => walk(app, 'End')),
    button('Turn the board', 'M7 20V5m0 0L3 9m4-4l4 4M17 4v15m0 0l4-4m-4 4l-4-4', () => turn(app))));
}

function turn(app) {
  app.flipped = !app.flipped;
  app.refresh();
}

function walk(app, key) {
  if (app.quizzing()) return;
  const { view, at } = app;
  const onward = (k) => (app.visited.has(k) ? app.visited.get(k) : view.main(k));
  if (key === 'ArrowRight' && !view.leaf(at)) app.go(onward(at));
  if (key === 'ArrowLeft' && at) app.go(view.parent[at]);
  if (key === 'Home') app.go(0);
  if (key === 'End') {
    let k = at;
    while (!view.leaf(k)) k = onward(k);
    app.go(k);
  }
  if ((key === 'ArrowUp' || key === 'ArrowDown') && at) {
    const siblings = byShare(view, view.parent[at]);
    const to = siblings.indexOf(at) + (key === 'ArrowUp' ? -1 : 1);
    if (siblings[to] !== undefined) app.go(siblings[to]);
  }
}

function listenToKeys(app, actions) {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea, [role=tab], .chart, dialog, pre, .scroll')) return;
    if (/^(Arrow|Home$|End$)/.test(event.key)) walk(app, event.key);
    else if (actions[event.key]) actions[event.key]();
    else return;
    event.preventDefault();
  });
}

function showBook(data) {
  const book = makeBook(data);
  book.mine = (k) => k > 0 && book.own(book.parent[k]);
  book.dim = (k) => !book.followed(k);
  book.ending = (k) => (book.leaf(k) ? END_NAMES[book.endOf(k)] : '');
  const app = makeApp(data, book, data.side === 2);
  bookTop(book, data);
  const finder = makeFinder(app);
  const tree = makeTreePane(app);
  const card = makePositionCard(app, bookCard);
  app.quiz = makeQuiz(app);
  const learn = makeLearn(app);
  const pane = tabs('Parts of the preparation', [
    { name: 'tree', title: 'Explore', body: h('div', { class: 'pane' }, finder.element, tree.element) },
    { name: 'learn', title: 'Learn', body: h('div', { class: 'pane' }, learn.element) },
    { name: 'quiz', title: 'Quiz', body: h('div', { class: 'pane' }, app.quiz.element) },
  ], (name) => {
    if (name !== 'quiz') app.quiz.stop();
  });
  app.listeners.push((k, { changed }) => {
    if (!app.quizzing()) card.show(k);
    if (changed) tree.refresh();
    if (!app.quizzing()) tree.show(k);
  });
  arrange(app, card.element, pane.element);
  pane.show('tree');
  listenToKeys(app, {
    f: () => data.chess && turn(app),
    '/': () => {
      pane.show('tree');
      finder.focus();
    },
    q: () => pane.show('quiz', true),
    '?': () => find('#help').click(),
  });
  start(app);
}

function showMixed(data) {
  const view = makeMixed(data);
  const app = makeApp(data, view, false);
  mixedTop(data);
  const finder = makeFinder(app);
  const tree = makeTreePane(app);
  const card = makePositionCard(app, mixedCard);
  const table = mixedTable(app);
  const choose = (side) => {
    view.side = side;
    app.flipped = side === '2';
    table.refresh();
    app.refresh();
  };
  const switches = h('fieldset', { class: 'switch' }, h('legend', {}, 'Whose book'), ['1', '2'].map((side) => h('label', {},
    h('input', { type: 'radio', name: 'side', value: side, checked: side === '1', change: () => choose(side) }), h('span', {}, data.sides[Number(side) - 1]))));
  const pane = tabs('Parts of the equilibrium', [
    { name: 'tree', title: 'Explore', body: h('div', { class: 'pane' }, finder.element, tree.element) },
    { name: 'book', title: 'Book', body: h('div', { class: 'pane' }, table.element) },
    { name: 'gap', title: 'Gap', body: h('div', { class: 'pane' }, gapChart(data)) },
  ]);
  app.listeners.push((k, { changed }) => {
    card.show(k);
    if (changed) tree.refresh();
    tree.show(k);
  });
  table.refresh();
  arrange(app, card.element, pane.element, switches);
  pane.show('tree');
  listenToKeys(app, { f: () => data.chess && turn(app), '/': () => finder.focus(), '?': () => find('#help').click() });
  start(app);
}

function arrange(app, card, pane, above = null) {
  const main = find('#main');
  main.classList.add('explorer', app.data.chess ? 'with-board' : 'no-board');
  if (above) main.append(above);
  if (app.data.chess) main.append(makeStage(app));
  main.append(card, pane);
  makeFoot(app.data);
}

function start(app) {
  window.addEventListener('hashchange', () => {
    if (!app.quizzing()) app.go(addressed(app.view));
  });
  app.go(addressed(app.view));
  announce('');
}

restoreTheme();
const DATA = JSON.parse(find('#data').textContent);
({ book: showBook, mixed: showMixed, curves: showCurves })[DATA.kind](DATA);
document.documentElement.dataset.ready = 'true';
