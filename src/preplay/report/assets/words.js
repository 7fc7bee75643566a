// Numbers as players say them.

export function percent(share, digits = 1) {
  if (share > 0 && share < 0.0005) return '<0.1%';
  return `${(100 * share).toFixed(share >= 0.9995 || share === 0 ? 0 : digits).replace('-', '−')}%`;
}

// A share of a point as points in a hundred games, with its sign if asked.
export function points(gain, signed = true) {
  const hundred = 100 * gain;
  const size = Math.abs(hundred);
  const digits = size >= 9.95 ? 1 : size >= 0.095 || size === 0 ? 2 : Math.min(7, 1 - Math.floor(Math.log10(size)));
  const text = size.toFixed(digits);
  if (!signed) return text;
  return `${hundred < 0 ? '−' : '+'}${text}`;
}

// How often: "every game", "3 in 4 games", "1 in 120 games".
export function often(reach) {
  if (!(reach > 0)) return 'never';
  if (reach >= 0.995) return 'every game';
  if (reach < 0.1) return `1 in ${Math.round(1 / reach).toLocaleString('en')} games`;
  let best = [1, 1];
  for (let below = 1; below <= 10; below += 1) {
    const above = Math.round(reach * below);
    if (above && Math.abs(above / below - reach) < Math.abs(best[0] / best[1] - reach) - 1e-9) best = [above, below];
  }
  return best[0] === best[1] ? 'almost every game' : `${best[0]} in ${best[1]} games`;
}

export function elo(score) {
  const safe = Math.min(0.999, Math.max(0.001, score));
  return 400 * Math.log10(safe / (1 - safe));
}

// What a better score is worth as rating, or null where the scale ends.
export function eloGain(before, after) {
  if (before <= 0.001 || after >= 0.999) return null;
  return Math.round(elo(after) - elo(before));
}

// The engine's score behind White's value, in pawns; null where the value model has no inverse.
export function pawns(value, model) {
  let score = null;
  if (!(value > 0.0005 && value < 0.9995)) return score;
  if (model === 'linear') score = 4 * (2 * value - 1);
  if (model === 'logistic') score = Math.log(value / (1 - value)) / 0.368208;
  return score === null ? null : `${score < -0.005 ? '−' : '+'}${Math.abs(score).toFixed(2)}`;
}

export function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

export function compact(number) {
  if (!Number.isFinite(number)) return String(number);
  if (Number.isInteger(number) && Math.abs(number) < 1e6) return number.toLocaleString('en');
  const size = Math.abs(number);
  if (size >= 1e6 || size < 1e-4) return power(number);
  return String(Number(number.toPrecision(4)));
}

// Very large and very small numbers: "2.1·10⁻⁶".
export function power(number, digits = 1) {
  if (number >= 0.0095 && number < 1000) return String(Number(number.toPrecision(digits + 1)));
  const [head, tail] = number.toExponential(digits).split('e');
  const raised = String(Number(tail)).replace(/./g, (c) => '⁰¹²³⁴⁵⁶⁷⁸⁹'['0123456789'.indexOf(c)] || '⁻');
  const front = String(Number(head));
  return front === '1' ? `10${raised}` : `${front}·10${raised}`;
}

// Why the book ends: a short name and a sentence with this position's own numbers.
export const END_NAMES = {
  g: 'game over',
  w: 'won enough',
  r: 'too rare',
  x: 'too many answers',
  n: 'not worth it',
  b: 'no room',
  o: 'not looked at',
  s: 'left out',
};

export function endReason(code, facts) {
  const { reach, value, cost, other, beyond, budget } = facts;
  const most = value === null ? reach : reach * (1 - value);
  const price = `a position must earn ${points(cost, false)}`;
  const left = `perfect play from here could add at most ${points(most, false)} points per 100 games; ${price}.`;
  const answers = (beyond || []).slice(1).map(([move, p]) => `${move} ${percent(p, 0)}`);
  if (cost === 0 && 'wrn'.includes(code)) return 'Nothing is left to gain here: at the board the side does as well.';
  const list = answers.length > 4 ? `${answers.slice(0, 4).join(', ')} …` : answers.join(', ');
  switch (code) {
    case 'g':
      return value > 0.99 ? 'The game is over, and won.' : value < 0.01 ? 'The game is over, and lost.' : 'The game is over: a draw.';
    case 'w':
      return `You stand well enough to play on yourself: ${left}`;
    case 'r':
      return `This happens in ${often(reach)}: ${left}`;
    case 'x':
      return `After ${beyond[0]} ${other} has too many answers to learn against (${list}): knowing what to do after each costs more than it gains.`;
    case 'n':
      return beyond
        ? `Studied, but not worth its price: ${beyond[0]}${list ? ` (then ${list})` : ''} and what follows gains less than it costs.`
        : `Not worth its price: ${left}`;
    case 'b':
      return `No room: the book was limited to ${plural(budget, 'position')}, and others gain more.`;
    case 'o':
      return 'The computation was stopped before it got here. More time may find something; the certified bound counts it.';
    case 's':
      return 'The smaller book that you chose stops here; the whole book goes on.';
    default:
      return '';
  }
}

// What an option [move, said, worth, most, opinion] earns, as far as it is known.
export function optionWorth([, , low, most]) {
  if (most - low < 5e-5) return percent(low, 2);
  return most >= 1 ? 'an unknown share' : `at most ${percent(most, 2)}`;
}

// Why the book plays an option: among the moves of `lines` of one's own, or among the engine's.
export function whyChosen(options, played, lines) {
  const [first, chosen] = [options[0], options[played]];
  if (options.length === 1) return lines ? 'The only move that you allow here.' : 'No other move was near enough to be considered.';
  const choice = lines ? 'first choice among the moves you allow' : first[4] === null ? 'first move of your lines' : 'engine’s first choice';
  if (played === 0) return `The ${choice} is also the best against this opponent. What a game that gets here earns, memory paid:`;
  return `Not the ${choice}: ${first[1]} would earn ${optionWorth(first)} from here, ${chosen[1]} earns ${optionWorth(chosen)}, memory paid.`;
}
