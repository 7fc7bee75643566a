// Reads {answers: [[days, rating]]} lists as JSON from standard input; writes the memory after each answer.
import { readFileSync } from 'node:fs';
import { recall, review } from '../../../src/preplay/report/assets/fsrs.js';

const told = JSON.parse(readFileSync(0, 'utf-8')).map((answers) => {
  let memory = null;
  return answers.map(([days, rating]) => {
    memory = review(memory, days, rating);
    return [memory.s, memory.d, recall(7, memory.s)];
  });
});
process.stdout.write(JSON.stringify(told));
