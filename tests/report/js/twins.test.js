// Other ways into a position: by transposition, never by an action that moves no piece.
import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.document = { documentElement: { dataset: {} }, body: { classList: { toggle() {} } } };
globalThis.localStorage = { getItem: () => null, setItem() {} };

test('the rest of the moves is no way into the position before it', async () => {
  const { makeApp } = await import('../../../src/preplay/report/assets/app.js');
  // 1. Nf3 Nf6 2. Nc3, the same by 1. Nc3 Nf6 2. Nf3, and any other move after 1. Nf3.
  const names = ['', 'g1f3', 'b1c3', 'g8f6', 'rest', 'g8f6', 'b1c3', 'g1f3'];
  const parent = [-1, 0, 0, 1, 1, 2, 3, 5];
  const view = { n: names.length, parent, name: (k) => names[k] };
  const app = makeApp({ chess: true, start: '', kind: 'book' }, view, false);
  app.training = () => true;
  await new Promise((done) => { setTimeout(done, 300); });
  assert.deepEqual(app.twins(6), [7]);
  assert.deepEqual(app.twins(1), []);
  assert.deepEqual(app.twins(4), []);
});
