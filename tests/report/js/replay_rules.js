// Reads [{fen, chess960}] as JSON; writes the legal moves of each position with their SAN.
import { readFileSync } from 'node:fs';
import { readFen } from '../../../src/preplay/report/assets/chess.js';
import { legalMoves, readMove, writeSan } from '../../../src/preplay/report/assets/rules.js';

const told = JSON.parse(readFileSync(0, 'utf-8')).map(({ fen, chess960, read = [] }) => {
  const position = readFen(fen);
  const moves = legalMoves(position, chess960);
  return { moves: Object.fromEntries(moves.map((uci) => [uci, writeSan(position, uci, moves)])), read: read.map((text) => readMove(position, text, chess960)) };
});
process.stdout.write(JSON.stringify(told));
