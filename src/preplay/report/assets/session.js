// One sitting: which position comes next, and when it is over. It knows no screen and no clock of its own.
import { bookMoves, queueOf } from './cards.js';

const APART = 3; // other questions between a miss, or something shown for the first time, and its return

// options: by 'line' or 'position'; from, a history; seconds, 0 for no limit; teach: show what is new before
// asking it; ahead: go on with what is not due yet; gameDay. `memories` is read only.
export function makeSession({ book, cards, ofNode, memories, now, options }) {
  const { by = 'line', from = 0, seconds = 0, teach = true, ahead = false, gameDay = null } = options;
  const start = now();
  const below = from ? descendants(book, from) : null;
  const inside = (card) => card.nodes.some((k) => book.inside(k) && (!below || below.has(k)));
  const waiting = new Map(queueOf(cards.filter(inside), memories, start, { gameDay, ahead }).map((card) => [card, { since: -APART, fresh: !memories[card.id] }]));
  const state = { asked: 0, right: 0, shown: 0, turns: 0, at: from, missed: new Set(), total: waiting.size };

  const nodesOf = (card) => card.nodes.filter((k) => book.inside(k) && (!below || below.has(k)));
  const ready = (card) => waiting.has(card) && state.turns - waiting.get(card).since >= APART;
  const timeUp = () => seconds > 0 && (now() - start) / 1000 >= seconds;

  // What was missed or shown comes back after a little rest, else the next card in queue order; those that
  // still rest come when nothing else is left.
  function pick() {
    const all = [...waiting.keys()];
    return all.find((card) => waiting.get(card).returning && ready(card)) ?? all.find(ready)
      ?? all.reduce((a, b) => (waiting.get(b).since < waiting.get(a).since ? b : a));
  }

  // Below a history, the first wanted position that is worth most.
  function onward(k) {
    let best = null;
    const stack = [k];
    while (stack.length) {
      const j = stack.pop();
      const card = book.inside(j) ? ofNode.get(j) : undefined;
      if (card && ready(card)) {
        if (!best || card.rank < best.card.rank) best = { card, node: j };
        continue; // what lies behind it comes after it
      }
      stack.push(...book.children(j));
    }
    return best;
  }

  function next() {
    if (!waiting.size || (timeUp() && ![...waiting.values()].some((place) => place.returning))) return { kind: 'done' };
    let goal = null;
    if (by === 'line' && !timeUp()) goal = onward(state.at);
    let continued = goal !== null;
    if (!goal) {
      const card = timeUp() ? [...waiting.keys()].find((one) => waiting.get(one).returning) : pick();
      // By line, the most probable way; and what lies before it on that way, if wanted, first.
      goal = { card, node: nodesOf(card)[0] };
      if (by === 'line') {
        const early = book.path(goal.node).map((c) => book.parent[c]).find((k) => book.inside(k) && (!below || below.has(k)) && ofNode.get(k) !== card && ready(ofNode.get(k)));
        if (early !== undefined) goal = { card: ofNode.get(early), node: early };
      }
      continued = false;
    }
    state.at = goal.node;
    const place = waiting.get(goal.card);
    return { kind: place.fresh && teach ? 'teach' : 'ask', card: goal.card, node: goal.node, continued, again: state.missed.has(goal.card) };
  }

  // The new position was shown and its move made: it comes again soon, as a question.
  function taught(card) {
    state.shown += 1;
    state.turns += 1;
    waiting.delete(card);
    waiting.set(card, { since: state.turns, fresh: false, returning: true });
    state.at = bookMoves(book, state.at)[0];
  }

  function answer(card, right) {
    state.asked += 1;
    state.turns += 1;
    if (right) state.right += 1;
    else state.missed.add(card);
    waiting.delete(card);
    if (!right) waiting.set(card, { since: state.turns, fresh: false, returning: true });
    state.at = bookMoves(book, state.at)[0];
  }

  return { next, taught, answer, state, left: () => waiting.size, seconds: () => (now() - start) / 1000 };
}

function descendants(book, k) {
  const found = new Set();
  const stack = [k];
  while (stack.length) {
    const j = stack.pop();
    found.add(j);
    stack.push(...book.children(j));
  }
  return found;
}
