// What is to be learned: one card for each position of the book, however it is reached, with what is known
// of the learner's memory of it. Ids do not name the run: a new book finds what was learned for an old one.
import { AGAIN, DAY, GOOD, HARD, interval, recall, review } from './fsrs.js';
import { likeliest } from './model.js';

export const RETENTION = 0.9; // a position is due when it is recalled with less than this
const READY = 0.97; // on the last day before the game everything below this is looked at again
const SLOW = 30; // seconds of thought after which a right answer counts as a hard one

// `keyOf(k)` names the position of an own history; histories that share it and the move share a card.
export function makeCards(book, keyOf) {
  const cards = [];
  const byId = new Map();
  const ofNode = new Map();
  for (const k of book.order) {
    const move = book.name(bookMove(book, k));
    const id = `${keyOf(k)}|${move}`;
    let card = byId.get(id);
    if (!card) {
      card = { id, nodes: [], gain: 0, reach: 0, rank: cards.length };
      byId.set(id, card);
      cards.push(card);
    }
    card.nodes.push(k);
    card.gain += book.gain[k];
    card.reach += book.reach[k];
    ofNode.set(k, card);
  }
  for (const card of cards) card.nodes.sort((a, b) => book.reach[b] - book.reach[a]);
  return { cards, ofNode };
}

// The move that the book plays at an own position: the likeliest where it mixes.
export const bookMove = (book, k) => likeliest(book, k);

// Every move that counts as the book's.
export function bookMoves(book, k) {
  const best = bookMove(book, k);
  return book.children(k).filter((c) => book.p[c] >= 0.25 * book.p[best]).sort((a, b) => book.p[b] - book.p[a]);
}

export const daysBetween = (from, to) => (to - from) / DAY;

// How surely a card is known at a time: 0 for one never seen.
export function sureness(memory, at) {
  return memory ? recall(daysBetween(memory.t, at), memory.s) : 0;
}

// When a card should be asked next: when memory fades, and once more shortly before the game.
export function dueAt(memory, gameDay = null) {
  const fades = memory.t + DAY * interval(memory.s, RETENTION);
  if (gameDay === null || fades < gameDay - DAY) return fades;
  const last = gameDay - DAY;
  if (memory.t < last && recall(daysBetween(memory.t, gameDay), memory.s) < READY) return last;
  return fades;
}

export const isDue = (memory, now, gameDay = null) => Boolean(memory) && dueAt(memory, gameDay) <= now;

// The memory after an answer. `n` counts answers, `m` misses.
export function answered(memory, now, right, seconds = 0) {
  const rating = right ? (seconds > SLOW ? HARD : GOOD) : AGAIN;
  const next = review(memory, memory ? daysBetween(memory.t, now) : 0, rating);
  return { s: round(next.s), d: round(next.d), t: now, n: (memory?.n ?? 0) + 1, m: (memory?.m ?? 0) + (right ? 0 : 1) };
}

const round = (x) => Number(x.toPrecision(6));

// How many cards are unseen, due and known, and how much of the book's gain is in memory now.
export function standing(cards, memories, now, gameDay = null) {
  const count = { unseen: 0, due: 0, known: 0, sure: 0, all: cards.length };
  for (const card of cards) {
    const memory = memories[card.id];
    if (!memory) count.unseen += 1;
    else if (isDue(memory, now, gameDay)) count.due += 1;
    else count.known += 1;
    count.sure += sureness(memory, now);
  }
  return count;
}

// What to ask next, in order: due, then unseen, each by the order worth learning; then, if `ahead`, the
// rest with the weakest first.
export function queueOf(cards, memories, now, { gameDay = null, ahead = false } = {}) {
  const due = cards.filter((card) => isDue(memories[card.id], now, gameDay));
  const unseen = cards.filter((card) => !memories[card.id]);
  const rest = ahead ? cards.filter((card) => memories[card.id] && !due.includes(card)).sort((a, b) => sureness(memories[a.id], now) - sureness(memories[b.id], now)) : [];
  return [...due, ...unseen, ...rest];
}
