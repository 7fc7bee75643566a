import assert from 'node:assert/strict';
import test from 'node:test';
import { AGAIN, GOOD, HARD, interval, recall, review } from '../../../src/preplay/report/assets/fsrs.js';

test('recall is 90 % after as many days as the stability', () => {
  for (const s of [0.5, 2.3065, 40]) {
    assert.ok(Math.abs(recall(s, s) - 0.9) < 1e-12);
    assert.ok(Math.abs(interval(s, 0.9) - s) < 1e-9);
    assert.ok(Math.abs(recall(interval(s, 0.8), s) - 0.8) < 1e-12);
  }
  assert.equal(recall(0, 3), 1);
});

test('right answers lengthen memory, wrong ones shorten it, hard ones less', () => {
  let memory = review(null, 0, GOOD);
  for (let k = 0; k < 6; k += 1) {
    const next = review(memory, memory.s, GOOD);
    assert.ok(next.s > memory.s);
    assert.ok(review(memory, memory.s, HARD).s < next.s);
    assert.ok(review(memory, memory.s, AGAIN).s < memory.s);
    memory = next;
  }
  assert.ok(memory.s > 60);
  assert.ok(review(memory, 0.01, GOOD).s >= memory.s); // twice on one day does no harm
});
