import assert from 'node:assert/strict';
import test from 'node:test';
import { answered, dueAt, isDue, makeCards, queueOf, standing } from '../../../src/preplay/report/assets/cards.js';
import { DAY } from '../../../src/preplay/report/assets/fsrs.js';
import { makeBook } from '../../../src/preplay/report/assets/model.js';
import { makePlan } from '../../../src/preplay/report/assets/plan.js';
import { makeProgress, mergeProgress, readProgress } from '../../../src/preplay/report/assets/progress.js';
import { makeSession } from '../../../src/preplay/report/assets/session.js';

// A book with two answers at every turn, `depth` own moves deep, learned breadth first.
function aBook(depth) {
  const tree = { kids: [], player: '', names: ['a', 'b'], move: [], p: [], value: [], rank: [], end: '', beyond: {} };
  const level = [{ own: true, left: depth }];
  let rank = 0;
  for (let k = 0; k < level.length; k += 1) {
    const { own, left } = level[k];
    const count = left === 0 ? 0 : own ? 1 : 2;
    tree.kids.push(count);
    tree.player += own ? '1' : '2';
    tree.value.push(0.5 + 0.001 * k);
    tree.rank.push(own && count ? rank++ : -1);
    tree.end += count ? '-' : 'r';
    for (let c = 0; c < count; c += 1) {
      level.push({ own: !own, left: own ? left : left - 1 });
      tree.move.push(c);
      tree.p.push(count === 1 ? 1 : c ? 0.3 : 0.7);
    }
  }
  return makeBook({ side: 1, tree });
}

const NOW = new Date(2026, 10, 16, 12).getTime();
const keyOf = (book) => (k) => book.path(k).map(book.name).join(' ');

// Sit until it is over; `wrong(times asked before)` says whether an answer is wrong.
function sit(book, options, wrong = () => false, spend = 5) {
  const { cards, ofNode } = makeCards(book, keyOf(book));
  const memories = {};
  let clock = NOW;
  const session = makeSession({ book, cards, ofNode, memories, now: () => clock, options });
  const asked = [];
  for (;;) {
    const goal = session.next();
    if (goal.kind === 'done') return { asked, session, cards, memories };
    assert.ok(book.inside(goal.node));
    clock += 1000 * spend;
    if (goal.kind === 'teach') session.taught(goal.card);
    else {
      const right = !wrong(asked.filter((k) => k === goal.node).length, asked.length);
      asked.push(goal.node);
      memories[goal.card.id] = answered(memories[goal.card.id] ?? null, clock, right);
      session.answer(goal.card, right);
    }
    assert.ok(asked.length < 2000);
  }
}

for (const by of ['line', 'position']) {
  for (const teach of [false, true]) {
    test(`every position is asked exactly once by ${by}, teach ${teach}`, () => {
      const book = aBook(6);
      const { asked } = sit(book, { by, teach });
      assert.equal(asked.length, book.order.length);
      assert.equal(new Set(asked).size, asked.length);
    });
  }
}

test('the demo’s 89 positions need at most 120 questions with a miss in ten', () => {
  const book = aBook(7);
  book.choose(89);
  const { asked } = sit(book, { by: 'line', teach: false }, (before, count) => before === 0 && count % 10 === 9);
  assert.equal(new Set(asked).size, 89);
  assert.ok(asked.length <= 120, String(asked.length));
});

test('a miss comes again, not at once, until it is right', () => {
  const book = aBook(4);
  const { asked } = sit(book, { by: 'position', teach: false }, (before, count) => before < 2 && (count === 0 || before > 0));
  const places = asked.map((k, j) => (k === asked[0] ? j : -1)).filter((j) => j >= 0);
  assert.equal(places.length, 3);
  assert.ok(places[1] - places[0] >= 3 && places[2] - places[1] >= 3);
});

test('by line the next question lies below the last one while something is left there', () => {
  const book = aBook(5);
  const { asked } = sit(book, { by: 'line', teach: false });
  const below = (k, top) => book.path(k).includes(top) || top === 0;
  let breaks = 0;
  asked.slice(1).forEach((k, j) => { breaks += below(k, asked[j]) ? 0 : 1; });
  assert.ok(breaks < asked.length / 2);
});

test('time ends a sitting, but what is on its way comes back first', () => {
  const book = aBook(6);
  const { asked, session } = sit(book, { by: 'line', teach: true, seconds: 60 }, () => false, 10);
  assert.ok(asked.length < 20);
  assert.equal(session.state.shown, asked.length);
});

test('only what lies below the position chosen', () => {
  const book = aBook(5);
  const from = book.children(book.children(0)[0])[1];
  const { asked } = sit(book, { by: 'line', from, teach: false });
  assert.ok(asked.length > 5 && asked.every((k) => k === from || book.path(k).includes(from)));
});

test('due before unseen, each by value; known ones wait', () => {
  const book = aBook(4);
  const { cards } = makeCards(book, keyOf(book));
  const old = answered(null, NOW - 30 * DAY, true);
  const memories = { [cards[5].id]: old, [cards[2].id]: old, [cards[0].id]: answered(null, NOW, true) };
  const queue = queueOf(cards, memories, NOW);
  assert.deepEqual(queue.slice(0, 3), [cards[2], cards[5], cards[1]]);
  assert.ok(!queue.includes(cards[0]));
  assert.equal(queueOf(cards, memories, NOW, { ahead: true }).length, cards.length);
  assert.deepEqual({ ...standing(cards, memories, NOW), sure: 0 }, { unseen: cards.length - 3, due: 2, known: 1, sure: 0, all: cards.length });
});

test('shortly before the game everything shaky is due once more', () => {
  const memory = answered(null, NOW, true);
  const game = NOW + 2 * DAY;
  assert.ok(!isDue(memory, NOW + DAY / 2));
  assert.ok(dueAt(memory, game) <= game - DAY);
  assert.ok(isDue(memory, game - DAY, game));
});

test('the plan teaches all in time, most valuable first, and keeps to the minutes', () => {
  const book = aBook(7);
  const { cards } = makeCards(book, keyOf(book));
  const game = new Date(2026, 10, 26).getTime();
  const { days, sure, missing } = makePlan({ cards, memories: {}, now: NOW, gameDay: game, minutes: 10, pace: 9 });
  assert.equal(missing, 0);
  assert.ok(sure / cards.length > 0.93, String(sure / cards.length));
  assert.equal(days.reduce((sum, row) => sum + row.fresh, 0), cards.length);
  assert.ok(days.every((row) => row.minutes <= 10));
  const short = makePlan({ cards, memories: {}, now: NOW, gameDay: NOW + DAY, minutes: 5, pace: 9 });
  assert.ok(short.missing > 0 && short.sure > 10);
});

test('progress is kept, merged by the later answer, and refuses other files', () => {
  const kept = new Map();
  const storage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) };
  const one = makeProgress(storage);
  const memory = answered(null, NOW, true);
  one.remember('x', memory, '2026-11-16', true, 4);
  const two = makeProgress(storage); // after a reload
  assert.deepEqual(two.cards, { x: memory });
  assert.deepEqual(two.days['2026-11-16'], { asked: 1, right: 1, seconds: 4 });
  const later = { ...memory, t: NOW + 1, n: 2 };
  const { merged, taken } = mergeProgress(readProgress(two.text()), readProgress(JSON.stringify({ format: 'preplay-progress/1', cards: { x: later, y: memory, bad: { s: -1 } } })));
  assert.equal(taken, 2);
  assert.deepEqual(merged.cards, { x: later, y: memory });
  assert.throws(() => readProgress('{'), /no JSON/);
  assert.throws(() => readProgress('{"format": "other/1"}'), /expected “preplay-progress\/1”/);
  const broken = makeProgress({ getItem: () => null, setItem() { throw new Error('full'); } });
  assert.equal(broken.remember('x', memory, '2026-11-16', true, 4), false);
  assert.match(broken.trouble, /save your progress as a file/);
  assert.deepEqual(broken.cards.x, memory);
});
