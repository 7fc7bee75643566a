// Putting it together: one page for each kind of run.
import { arrange, listenToKeys, makeApp, start, turn } from './app.js';
import { showCompare } from './compare.js';
import { showCurves } from './curves.js';
import { find, h, tabs } from './dom.js';
import { makeFinder } from './finder.js';
import { gapChart, makeMixed, mixedCard, mixedFacts, mixedTable, mixedTop } from './mixed.js';
import { gameList, makeMatch, matchCard, matchFacts, matchTop } from './match.js';
import { makeBook } from './model.js';
import { makeOrder } from './order.js';
import { makePolicy, policyCard, policyFacts, policyTop } from './policy.js';
import { bookCard, makePositionCard, tryMove } from './position.js';
import { makeRepairs } from './repairs.js';
import { makeStage } from './stage.js';
import { bookTop, restoreTheme } from './summary.js';
import { makeTake } from './take.js';
import { makeTrainer } from './train.js';
import { makeTreePane } from './tree.js';
import { makeTrust } from './trust.js';
import { END_NAMES } from './words.js';

const explore = (card, finder, tree) => h('div', { class: 'pane explore' }, card.element, h('div', { class: 'tree-side' }, finder.element, tree.element));

function showBook(data) {
  const book = makeBook(data);
  book.mine = (k) => k > 0 && book.own(book.parent[k]);
  book.dim = (k) => !book.followed(k);
  book.ending = (k) => (book.leaf(k) ? END_NAMES[book.endOf(k)] : '');
  const app = makeApp(data, book, data.side === 2);
  bookTop(book, data);
  const finder = makeFinder(app);
  const stage = makeStage(app);
  const tree = makeTreePane(app);
  const card = makePositionCard(app, bookCard);
  app.tried = (uci) => tryMove(app, card, uci);
  app.trainer = makeTrainer(app);
  const order = makeOrder(app);
  const pane = tabs('Parts of the preparation', [
    { name: 'tree', title: 'Explore', body: explore(card, finder, tree) },
    { name: 'learn', title: 'Learn', body: h('div', { class: 'pane' }, app.trainer.element) },
    { name: 'order', title: 'Order', body: h('div', { class: 'pane' }, order.element) },
    ...(data.repairs ? [{ name: 'repair', title: 'Repair', body: h('div', { class: 'pane' }, makeRepairs(app)) }] : []),
    { name: 'trust', title: 'Trust', body: h('div', { class: 'pane' }, makeTrust(data)) },
    { name: 'take', title: 'Take along', body: h('div', { class: 'pane' }, makeTake(app)) },
  ], (name) => {
    if (name !== 'learn') app.trainer.stop();
    else app.trainer.refresh();
  });
  app.listeners.push((k, { changed }) => {
    if (app.training()) return;
    card.show(k, changed);
    if (changed) tree.refresh();
    tree.show(k);
  });
  arrange(stage, pane.element);
  pane.show(data.command === 'frontier' ? 'order' : 'tree');
  listenToKeys(app, {
    f: () => data.chess && turn(app),
    '/': () => {
      pane.show('tree');
      finder.focus();
    },
    l: () => pane.show('learn', true),
    '?': () => find('#help').click(),
  });
  start(app);
}

// A tree to explore with a card for each position, and further parts beside it.
function showTree(data, view, { top, card: makeCard, parts, above = null }) {
  const app = makeApp(data, view, data.side === 2);
  top(data);
  const finder = makeFinder(app);
  const stage = makeStage(app);
  const tree = makeTreePane(app);
  const card = makePositionCard(app, makeCard);
  app.tried = (uci) => tryMove(app, card, uci);
  app.listeners.push((k, { changed }) => {
    card.show(k, changed);
    if (changed) tree.refresh();
    tree.show(k);
  });
  const pane = tabs('Parts of the page', [
    { name: 'tree', title: 'Explore', body: explore(card, finder, tree) },
    ...parts(app).map(([name, title, body]) => ({ name, title, body: h('div', { class: 'pane' }, body) })),
  ]);
  if (above) pane.element.prepend(above(app));
  arrange(stage, pane.element);
  pane.show('tree');
  listenToKeys(app, { f: () => data.chess && turn(app), '/': () => {
    pane.show('tree');
    finder.focus();
  }, '?': () => find('#help').click() });
  start(app);
}

function showMixed(data) {
  const view = makeMixed(data);
  let table = null;
  const switches = (app) => {
    const choose = (side) => {
      view.side = side;
      app.flipped = side === '2';
      table.refresh();
      app.refresh();
    };
    return h('fieldset', { class: 'switch' }, h('legend', {}, 'Whose book'), ['1', '2'].map((side) => h('label', {},
      h('input', { type: 'radio', name: 'side', value: side, checked: side === '1', change: () => choose(side) }), h('span', {}, data.sides[Number(side) - 1]))));
  };
  showTree(data, view, {
    top: mixedTop,
    card: mixedCard,
    above: switches,
    parts(app) {
      table = mixedTable(app);
      table.refresh();
      return [['book', 'Book', table.element], ['gap', 'How exact', gapChart(data)], ['trust', 'Trust', mixedFacts(data)]];
    },
  });
}

const showMatch = (data) => showTree(data, makeMatch(data), {
  top: matchTop, card: matchCard, parts: (app) => [['games', 'Games', gameList(app)], ['trust', 'Result', matchFacts(data)]],
});

const showPolicy = (data) => showTree(data, makePolicy(data), {
  top: policyTop, card: policyCard, parts: () => [['trust', 'Result', policyFacts(data)]],
});

restoreTheme();
const DATA = JSON.parse(find('#data').textContent);
({ book: showBook, mixed: showMixed, match: showMatch, policy: showPolicy, compare: showCompare, curves: showCurves })[DATA.kind](DATA);
if (find('link[rel=manifest]') && navigator.serviceWorker) navigator.serviceWorker.register('worker.js').catch(() => { /* it works without */ });
document.documentElement.dataset.ready = 'true';
