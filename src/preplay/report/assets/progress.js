// What was learned, kept by the browser under one name for all pages, and moved as a file.

const PLACE = 'preplay-progress';
const FORMAT = 'preplay-progress/1';
const empty = () => ({ format: FORMAT, cards: {}, days: {}, game: {}, pace: null });

// Progress from text; an Error tells what was wrong with it.
export function readProgress(text) {
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error('this is no JSON file; expected one saved by “Save progress”');
  }
  if (data?.format !== FORMAT) throw new Error(`format ${JSON.stringify(data?.format ?? null)}; expected “${FORMAT}”`);
  const kept = empty();
  for (const [id, memory] of Object.entries(data.cards ?? {})) if (isMemory(memory)) kept.cards[id] = pick(memory);
  for (const [day, done] of Object.entries(data.days ?? {})) {
    if (/^\d{4}-\d\d-\d\d$/.test(day) && ['asked', 'right', 'seconds'].every((key) => done?.[key] >= 0)) kept.days[day] = { asked: done.asked, right: done.right, seconds: done.seconds };
  }
  for (const [name, day] of Object.entries(data.game ?? {})) if (/^\d{4}-\d\d-\d\d$/.test(day)) kept.game[name] = day;
  if (data.pace > 0) kept.pace = data.pace;
  return kept;
}

const isMemory = (m) => m && ['s', 'd', 't', 'n', 'm'].every((key) => Number.isFinite(m[key])) && m.s > 0 && m.d >= 1 && m.d <= 10;
const pick = ({ s, d, t, n, m }) => ({ s, d, t, n, m });

// Two learners' files in one: for each card the later answer, for each day the larger count.
export function mergeProgress(one, other) {
  const merged = { ...empty(), pace: other.pace ?? one.pace, game: { ...one.game, ...other.game }, cards: { ...one.cards }, days: { ...one.days } };
  let taken = 0;
  for (const [id, memory] of Object.entries(other.cards)) {
    if (!merged.cards[id] || memory.t > merged.cards[id].t) {
      merged.cards[id] = memory;
      taken += 1;
    }
  }
  for (const [day, done] of Object.entries(other.days)) if (!merged.days[day] || done.asked > merged.days[day].asked) merged.days[day] = done;
  return { merged, taken };
}

// `storage` is the browser's; where it keeps nothing, progress lasts as long as the page.
export function makeProgress(storage) {
  let data = empty();
  let trouble = '';
  function load() {
    try {
      const text = storage.getItem(PLACE);
      if (text) data = readProgress(text);
    } catch (error) {
      trouble = `What was learned before could not be read (${error.message}).`;
    }
  }
  function save() {
    try {
      storage.setItem(PLACE, JSON.stringify(data));
      return true;
    } catch {
      trouble = 'This browser keeps nothing for this page: save your progress as a file before you close it.';
      return false;
    }
  }
  load();
  return {
    get cards() { return data.cards; },
    get days() { return data.days; },
    get pace() { return data.pace; },
    get trouble() { return trouble; },
    gameDay: (name) => data.game[name] ?? null,
    setGameDay(name, day) {
      load();
      if (day) data.game[name] = day;
      else delete data.game[name];
      save();
    },
    // After an answer: the card's memory, the day's count, the pace.
    remember(id, memory, day, right, seconds) {
      load(); // another page may have saved meanwhile
      data.cards[id] = memory;
      const done = (data.days[day] ||= { asked: 0, right: 0, seconds: 0 });
      done.asked += 1;
      done.right += right ? 1 : 0;
      const spent = Math.min(60, seconds);
      done.seconds = Math.round(done.seconds + spent);
      data.pace = Number(((data.pace ?? spent) * 0.9 + spent * 0.1).toFixed(2));
      return save();
    },
    forget(ids) {
      load();
      for (const id of ids) delete data.cards[id];
      save();
    },
    text: () => JSON.stringify(data, null, 1),
    take(text) {
      const { merged, taken } = mergeProgress(data, readProgress(text));
      data = merged;
      save();
      return taken;
    },
  };
}
