// What to do on each day until the game, found by playing the days through with every answer right.
import { DAY } from './fsrs.js';
import { answered, isDue, sureness } from './cards.js';

export const PACE = 9; // seconds a question until the learner's own pace is known
const MOST_DAYS = 60;

export const startOfDay = (time) => {
  const date = new Date(time);
  date.setHours(0, 0, 0, 0);
  return date.getTime();
};

// The same hour some days later, whatever the clocks do in spring and autumn.
export const daysLater = (time, days) => {
  const date = new Date(time);
  date.setDate(date.getDate() + days);
  return date.getTime();
};

// [{day, fresh, again, minutes}], and what is known on the day of the game. `minutes` is how long to learn a day.
export function makePlan({ cards, memories, now, gameDay, minutes = 10, pace = PACE }) {
  const known = { ...memories };
  const first = startOfDay(now);
  const end = gameDay === null ? daysLater(first, 14) : gameDay;
  const room = Math.max(1, Math.floor((60 * minutes) / pace));
  const days = [];
  for (let j = 0; j < MOST_DAYS; j += 1) {
    const day = daysLater(first, j);
    if (day >= end && !(j === 0)) break;
    const at = j === 0 ? now : day + DAY / 2;
    // Whatever falls due until the evening is asked now.
    const due = cards.filter((card) => isDue(known[card.id], at + DAY / 2, gameDay)).slice(0, room);
    // A new position is shown once and asked once, which takes about two questions.
    const fresh = cards.filter((card) => !known[card.id]).slice(0, Math.max(0, Math.floor((room - due.length) / 2)));
    for (const card of [...due, ...fresh]) known[card.id] = answered(known[card.id], at, true);
    days.push({ day, fresh: fresh.length, again: due.length, minutes: Math.ceil(((due.length + 2 * fresh.length) * pace) / 60) });
  }
  const when = gameDay === null ? end : gameDay + DAY / 2;
  const sure = cards.reduce((sum, card) => sum + sureness(known[card.id], when), 0);
  const missing = cards.filter((card) => !known[card.id]).length;
  return { days, sure, missing };
}
