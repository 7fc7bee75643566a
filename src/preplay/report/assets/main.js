// Putting it together: one page for each kind of run.
import { arrange, listenToKeys, makeApp, start, turn } from './app.js';
import { showCurves } from './curves.js';
import { find, h, tabs } from './dom.js';
import { makeFinder } from './finder.js';
import { gapChart, makeMixed, mixedCard, mixedFacts, mixedTable, mixedTop } from './mixed.js';
import { makeBook } from './model.js';
import { makeOrder } from './order.js';
import { bookCard, makePositionCard, tryMove } from './position.js';
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
  pane.show('tree');
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

function showMixed(data) {
  const view = makeMixed(data);
  const app = makeApp(data, view, false);
  mixedTop(data);
  const finder = makeFinder(app);
  const stage = makeStage(app);
  const tree = makeTreePane(app);
  const card = makePositionCard(app, mixedCard);
  const table = mixedTable(app);
  app.tried = (uci) => tryMove(app, card, uci);
  const choose = (side) => {
    view.side = side;
    app.flipped = side === '2';
    table.refresh();
    app.refresh();
  };
  const switches = h('fieldset', { class: 'switch' }, h('legend', {}, 'Whose book'), ['1', '2'].map((side) => h('label', {},
    h('input', { type: 'radio', name: 'side', value: side, checked: side === '1', change: () => choose(side) }), h('span', {}, data.sides[Number(side) - 1]))));
  const pane = tabs('Parts of the equilibrium', [
    { name: 'tree', title: 'Explore', body: explore(card, finder, tree) },
    { name: 'book', title: 'Book', body: h('div', { class: 'pane' }, table.element) },
    { name: 'gap', title: 'How exact', body: h('div', { class: 'pane' }, gapChart(data)) },
    { name: 'trust', title: 'Trust', body: h('div', { class: 'pane' }, mixedFacts(data)) },
  ]);
  app.listeners.push((k, { changed }) => {
    card.show(k, changed);
    if (changed) tree.refresh();
    tree.show(k);
  });
  table.refresh();
  pane.element.prepend(switches);
  arrange(stage, pane.element);
  pane.show('tree');
  listenToKeys(app, { f: () => data.chess && turn(app), '/': () => {
    pane.show('tree');
    finder.focus();
  }, '?': () => find('#help').click() });
  start(app);
}

restoreTheme();
const DATA = JSON.parse(find('#data').textContent);
({ book: showBook, mixed: showMixed, curves: showCurves })[DATA.kind](DATA);
document.documentElement.dataset.ready = 'true';
