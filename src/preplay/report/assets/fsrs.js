// How long a position is remembered: FSRS-6 (free spaced repetition scheduler), the published formulas
// with the published average parameters. Times are in days.

const W = [
  0.212, 1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194, 0.001, 1.8722, 0.1666, 0.796,
  1.4835, 0.0614, 0.2629, 1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, 0.1542,
];
const DECAY = -W[20];
const FACTOR = 0.9 ** (1 / DECAY) - 1;

export const AGAIN = 1;
export const HARD = 2;
export const GOOD = 3;
export const EASY = 4;
export const DAY = 86_400_000; // in milliseconds

const between = (x, low, high) => Math.min(high, Math.max(low, x));
const firstDifficulty = (rating) => W[4] - Math.exp(W[5] * (rating - 1)) + 1;

// The probability to recall something of this stability after so many days.
export function recall(days, stability) {
  return (1 + (FACTOR * Math.max(0, days)) / stability) ** DECAY;
}

// After how many days the probability to recall it falls to `retention`.
export function interval(stability, retention = 0.9) {
  return (stability / FACTOR) * (retention ** (1 / DECAY) - 1);
}

// The memory {s: stability, d: difficulty} after an answer, from the one before (null for the first).
export function review(memory, days, rating) {
  if (!memory) return { s: W[rating - 1], d: between(firstDifficulty(rating), 1, 10) };
  const { s, d } = memory;
  const stability = days < 1 ? sameDay(s, rating) : rating === AGAIN ? forgotten(s, d, recall(days, s)) : recalled(s, d, recall(days, s), rating);
  return { s: Math.max(0.001, stability), d: between(nextDifficulty(d, rating), 1, 10) };
}

function sameDay(s, rating) {
  const growth = Math.exp(W[17] * (rating - 3 + W[18])) * s ** -W[19];
  return s * (rating >= HARD ? Math.max(1, growth) : growth);
}

function recalled(s, d, r, rating) {
  const weight = rating === HARD ? W[15] : rating === EASY ? W[16] : 1;
  return s * (1 + Math.exp(W[8]) * (11 - d) * s ** -W[9] * (Math.exp((1 - r) * W[10]) - 1) * weight);
}

function forgotten(s, d, r) {
  const long = W[11] * d ** -W[12] * ((s + 1) ** W[13] - 1) * Math.exp((1 - r) * W[14]);
  return Math.min(long, s / Math.exp(W[17] * W[18]));
}

function nextDifficulty(d, rating) {
  const damped = d - (W[6] * (rating - 3) * (10 - d)) / 9;
  return W[7] * firstDifficulty(EASY) + (1 - W[7]) * damped;
}
