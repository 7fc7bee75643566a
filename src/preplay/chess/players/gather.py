"""A player's games out of many files, and how everybody else played: found, filtered, counted."""

from __future__ import annotations

import bisect
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from preplay.chess.players.archive import LIMIT, GameTags, parts
from preplay.chess.players.counts import NOTHING, MoveAdder, MoveCounts, count_moves, together
from preplay.chess.players.filters import GameFilter, date_of, speed_of
from preplay.chess.players.mainline import Codes
from preplay.chess.players.names import meant, other_spellings
from preplay.chess.players.sources import BrokenFileError, digest_of, find_files
from preplay.chess.players.squares import Keys
from preplay.errors import InputError, nearest
from preplay.game import Side
from preplay.stopping import NEVER, Stop

FEW = 30
"""Games below which a model of a player rests on little."""
SHORT = 8
"""Half-moves up to which two games may well be the same, move by move."""


@dataclass(frozen=True, eq=False)
class OwnGame:
    """One game of the player, cut at the limit."""

    date: str
    name: str
    keys: Keys
    codes: Codes


@dataclass
class Skipped:
    """Games that were read and do not count, by reason."""

    broken: int = 0
    variants: int = 0
    odd_starts: int = 0
    twice: int = 0
    filtered: int = 0
    others: int = 0
    """Games of others."""
    other_side: int = 0
    """The player's games with the other colour."""


@dataclass(frozen=True, eq=False)
class Gathered:
    """What the files tell of a player with one colour."""

    side: Side
    wanted: tuple[str, ...]
    files: tuple[Path, ...]
    digests: tuple[str, ...]
    games: tuple[OwnGame, ...]
    """From the oldest to the newest."""
    names: dict[str, int]
    """How often each spelling of the name occurs among them."""
    speeds: dict[str, int]
    skipped: Skipped
    warnings: tuple[str, ...]
    broken_files: tuple[str, ...] = ()

    def counts(self, games: Sequence[OwnGame] | None = None) -> MoveCounts:
        """How often the player chose each move, in some of the games or in all."""
        some = self.games if games is None else games
        if not some:
            return NOTHING
        keys, codes = zip(*(own_moves(game, self.side) for game in some), strict=True)
        return count_moves(np.concatenate(keys), np.concatenate(codes))

    def replies(self) -> MoveCounts:
        """How often each move was played against the player."""
        keys, codes = zip(
            *((g.keys[2 - self.side :: 2], g.codes[2 - self.side :: 2]) for g in self.games), strict=True
        )
        return count_moves(np.concatenate(keys), np.concatenate(codes))

    def met(self) -> Keys:
        """Every position of the player's games, whoever is to move."""
        return np.unique(np.concatenate([game.keys for game in self.games]))


def own_moves(game: OwnGame, side: Side) -> tuple[Keys, Codes]:
    """The positions of a game in which the player of `side` moved, and the moves."""
    return game.keys[side - 1 :: 2], game.codes[side - 1 :: 2]


@dataclass
class _Seen:
    """What a reading of many files has met so far."""

    skipped: Skipped = field(default_factory=Skipped)
    broken_files: list[str] = field(default_factory=list)
    broken_games: list[str] = field(default_factory=list)
    known: set[bytes] = field(default_factory=set)
    games: int = 0
    cut: bool = False
    """Whether there was no time for all of them."""


def _read(
    files: Sequence[Path],
    keep: Path | None,
    limit: int,
    seen: _Seen,
    progress: Callable[[str], None] | None,
    stop: Stop,
) -> Iterator[tuple[GameTags, Keys, Codes]]:
    """Every game of chess from the usual start, once; those read so far where `stop` cuts it short."""
    for path in files:
        try:
            for part in parts(path, keep=keep, limit=limit):
                if stop.asked and seen.games:
                    seen.cut = True
                    return
                seen.skipped.broken += len(part.broken)
                seen.broken_games += part.broken[: 3 - len(seen.broken_games)]
                for k, tags in enumerate(part.tags):
                    if k in part.odd:
                        kind = "variants" if tags.variation else "odd_starts"
                        setattr(seen.skipped, kind, getattr(seen.skipped, kind) + 1)
                        continue
                    low, high = int(part.bounds[k]), int(part.bounds[k + 1])
                    codes = part.codes[low:high]
                    mark = hashlib.blake2b(codes.tobytes(), digest_size=12)
                    mark.update(f"{tags.white}|{tags.black}|{tags.date}|{tags.result}".encode())
                    if mark.digest() in seen.known and high - low > SHORT and tags.date.strip("?."):
                        seen.skipped.twice += 1
                        continue
                    seen.known.add(mark.digest())
                    yield tags, part.keys[low:high], codes
                seen.games += len(part)
                if progress is not None:
                    progress(f"{seen.games:,} games read")
        except BrokenFileError as error:
            seen.broken_files.append(str(error))


def gather_games(
    sources: Sequence[str | Path],
    wanted: Sequence[str],
    side: Side,
    which: GameFilter | None = None,
    *,
    keep: Path | None = None,
    limit: int = LIMIT,
    stop: Stop = NEVER,
    progress: Callable[[str], None] | None = None,
) -> Gathered:
    """The games in which one of the `wanted` names has `side`; whoever has it where no name is wanted."""
    which = which or GameFilter()
    files = find_files(sources)
    seen, names, speeds, others = _Seen(), Counter[str](), Counter[str](), Counter[str]()
    games: list[OwnGame] = []
    untold = 0
    for tags, keys, codes in _read(files, keep, limit, seen, progress, stop):
        mine, theirs = (tags.white, tags.black) if side == 1 else (tags.black, tags.white)
        if not meant(wanted, mine):
            others[mine] += 1
            if wanted and meant(wanted, theirs):
                seen.skipped.other_side += 1
            else:
                seen.skipped.others += 1
                others[theirs] += 1
            continue
        if not which.takes(tags, side):
            seen.skipped.filtered += 1
            continue
        speed, told = speed_of(tags)
        untold += not told
        names[mine] += 1
        speeds[speed] += 1
        games.append(OwnGame(date_of(tags), mine, keys.copy(), codes.copy()))
    if not games:
        raise InputError(_nobody(files, wanted, side, seen, others))
    games.sort(key=lambda game: game.date)
    return Gathered(
        side=side,
        wanted=tuple(wanted),
        files=files,
        digests=tuple(digest_of(path) for path in files if path.exists()),
        games=tuple(games),
        names=dict(names.most_common()),
        speeds=dict(speeds.most_common()),
        skipped=seen.skipped,
        warnings=tuple(_warnings(wanted, side, games, others, speeds, untold, which, seen)),
        broken_files=tuple(seen.broken_files),
    )


def _nobody(
    files: Sequence[Path], wanted: Sequence[str], side: Side, seen: _Seen, others: Counter[str]
) -> str:
    where = str(files[0]) if len(files) == 1 else f"{len(files)} files"
    colour, other = ("White", "Black") if side == 1 else ("Black", "White")
    if seen.broken_files and not seen.games:
        return seen.broken_files[0]
    who = " or ".join(f"'{name}'" for name in wanted) or "anybody"
    start = f"{where}: no game of chess in which {who} has {colour}"
    if seen.skipped.filtered:
        count = seen.skipped.filtered
        return f"{start} among those of --since, --until, --speed and --rating ({count} without these)"
    if seen.skipped.other_side:
        return f"{start}; {seen.skipped.other_side} with {other}: did you mean --side {other.lower()}?"
    known = [name for name, _ in others.most_common(8) if name]
    return f"{start}; {nearest(wanted[0], known) if known and wanted else 'the games name nobody'}"


def _warnings(
    wanted: Sequence[str],
    side: Side,
    games: Sequence[OwnGame],
    others: Counter[str],
    speeds: Counter[str],
    untold: int,
    which: GameFilter,
    seen: _Seen,
) -> Iterator[str]:
    colour, other = ("White", "Black") if side == 1 else ("Black", "White")
    if seen.cut:
        yield f"there was time for {seen.games:,} games only: the others were not read"
    yield from (f"{text} (left out)" for text in seen.broken_files)
    yield from (f"{text} (left out)" for text in seen.broken_games)
    for name, count in list(other_spellings(wanted, others).items())[:3]:
        yield f"'{name}' has {count} games: if it is the same player, add --player \"{name}\""
    if len(games) < FEW:
        yield f"{len(games)} games are few: the model leans on what stands in for more of them"
    if seen.skipped.other_side > 4 * len(games):
        yield f"{seen.skipped.other_side} games have the player on {other}, only {len(games)} on {colour}"
    if len(speeds) > 1 and not which.speeds:
        shares = ", ".join(f"{count} {speed}" for speed, count in speeds.most_common())
        yield f"mixed speeds ({shares}): --speed chooses"
    if untold and (which.speeds or len(speeds) > 1):
        yield f"{untold} games do not say how fast they were: counted as classical"


def count_others(
    sources: Sequence[str | Path],
    unwanted: Sequence[str],
    side: Side,
    which: GameFilter | None = None,
    *,
    before: Sequence[str] = (),
    keep: Path | None = None,
    limit: int = LIMIT,
    stop: Stop = NEVER,
    progress: Callable[[str], None] | None = None,
) -> tuple[MoveCounts, ...]:
    """How everybody else plays `side`: in games before each of some rising dates, and in all of them."""
    which = which or GameFilter()
    spans = [MoveAdder() for _ in range(len(before) + 1)]
    for tags, keys, codes in _read(find_files(sources), keep, limit, _Seen(), progress, stop):
        name = tags.white if side == 1 else tags.black
        if (unwanted and meant(unwanted, name)) or not which.takes(tags, side):
            continue
        span = bisect.bisect_right(before, date_of(tags))
        spans[span].add(keys[side - 1 :: 2], codes[side - 1 :: 2])
    tables: list[MoveCounts] = []
    for adder in spans:
        tables.append(together((*tables[-1:], adder.table())))
    return tuple(tables)
