// A hardened policy: what to mix at each position so that somebody who prepares gains least.
import { byShare } from './app.js';
import { factList, h } from './dom.js';
import { exactness } from './mixed.js';
import { decodeTree, likeliest } from './model.js';
import { moveRows } from './position.js';
import { made, makeTop } from './summary.js';
import { compact, percent, plural, points } from './words.js';

export function makePolicy(data) {
  const tree = decodeTree(data.tree);
  const side = String(data.side);
  return {
    ...tree,
    data,
    own: (k) => tree.player[k] === side,
    mine: (k) => k > 0 && tree.player[tree.parent[k]] === side,
    dim: () => false,
    ending: (k) => (tree.leaf(k) ? 'as at the board' : ''),
    main: (k) => likeliest(tree, k),
  };
}

export function policyCard(app, k) {
  const { view, data } = app;
  if (view.leaf(k)) return [h('p', { class: 'verdict' }, 'From here on: as at the board')];
  const me = data.sides[data.side - 1];
  if (view.own(k)) return [h('p', { class: 'label' }, `${me} plays at random, with these shares`), moveRows(app, byShare(view, k), () => '', 'mine')];
  return [h('p', { class: 'label' }, data.chess ? `${data.sides[2 - data.side]} may come by` : 'It may go on by'), h('ul', { class: 'choices' }, view.children(k).map((c) => h('li', {},
    h('button', { type: 'button', class: 'choice', click: () => app.go(c) }, app.numbers.prefix(view.depth[c], true) + view.say(c)))))];
}

export function policyTop(data) {
  const { value, before, unhardened, positions } = data.policy;
  const figures = [[percent(value, 2), `is what ${data.sides[2 - data.side]} nets by preparing`]];
  if (Number.isFinite(unhardened)) figures.push([percent(unhardened, 2), 'as it plays now', 'wide']);
  else if (Number.isFinite(before.value)) figures.push([percent(before.value, 2), 'by softmax', 'wide']);
  makeTop(data, `${data.sides[data.side - 1]}: hard to prepare against`, [...figures, [compact(positions), positions === 1 ? 'position' : 'positions', 'wide']]);
}

export function policyFacts(data) {
  const p = data.policy;
  const preparer = data.sides[2 - data.side];
  return h('div', { class: 'trust' },
    factList([
      [`The best book of ${preparer} nets`, percent(p.value, 3), Number.isFinite(p.gap) ? exactness(p.gap) : ''],
      Number.isFinite(p.lower) && Number.isFinite(p.upper) && ['Certified', `between ${percent(p.lower, 3)} and ${percent(p.upper, 3)}`],
      p.judged && ['Judged', `${percent(p.judged.before, 3)} became ${percent(p.judged.after, 3)}`, Number.isFinite(p.judged.fresh) ? `a fresh search says ${percent(p.judged.fresh, 3)}` : ''],
      p.error > 0 && ['May be off by', `${points(p.error, false)} points per 100 games`, 'by judge and calibration'],
      Number.isFinite(p.unhardened) && ['As it plays now', percent(p.unhardened, 3)],
      Number.isFinite(p.before.value) && ['By softmax', `${percent(p.before.value, 3)} or more`, Number.isFinite(p.before.randomness) ? `the best one, of ${compact(p.before.randomness)}${data.chess ? ' centipawns' : ''}` : ''],
      p.choosing && ['Choosing its moves', percent(p.choosing[0], 3), p.choosing[1] > p.choosing[0] ? `at most ${percent(p.choosing[1], 3)}` : ''],
      Number.isFinite(p.unprepared) && ['Without a book', percent(p.unprepared, 3)],
      Number.isFinite(p.loss) && ['Given away for it', `${points(p.loss, false)} points per 100 games`, 'against somebody who does not prepare'],
      ['Mixes at', plural(p.positions, 'position')],
    ]),
    h('p', {}, 'At each position draw a move with the shares shown: no other mixture within what may be given away leaves a preparer less, within this model.'),
    made(data));
}
