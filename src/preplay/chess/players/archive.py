"""Games of PGN files as flat tables, read once: kept beside the analysis store, by the file's digest."""

from __future__ import annotations

import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from preplay.chess.players import mainline
from preplay.chess.players.mainline import Codes
from preplay.chess.players.sources import PART, BrokenFileError, digest_of, parts_of, tag_of
from preplay.chess.players.squares import Keys

LIMIT = 40
"""Half-moves of each game that are kept for models of players."""
FORMAT = 2
"""Changes when what is kept changes."""
GAMES = 4096
"""Games in a part, at most."""
_TAG = re.compile(rb'^\[\s*([A-Za-z0-9_]+)\s+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_STANDARD = {"", "standard", "normal", "chess", "from position"}
_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq"
_SUM = 4
"""Bytes of the checksum at the end of what is kept."""


class GameTags(NamedTuple):
    """What a file says about a game; empty where it says nothing."""

    white: str
    black: str
    date: str
    result: str
    white_elo: str
    black_elo: str
    control: str
    event: str
    variant: str
    fen: str

    @property
    def variation(self) -> bool:
        """Whether it is another game than chess (Chess960 counts as chess with an odd start)."""
        name = self.variant.casefold()
        return name not in _STANDARD and not self.shuffled

    @property
    def shuffled(self) -> bool:
        """Whether it is Chess960."""
        name = re.sub(r"[^a-z0-9]", "", self.variant.casefold())
        return name in ("chess960", "fischerandom", "fischerrandom", "frc")

    @property
    def odd_start(self) -> bool:
        """Whether it does not begin where chess begins."""
        return self.shuffled or (bool(self.fen) and not self.fen.startswith(_START))


_NAMES = (
    "White",
    "Black",
    "Date",
    "Result",
    "WhiteElo",
    "BlackElo",
    "TimeControl",
    "Event",
    "Variant",
    "FEN",
)


@dataclass(frozen=True, eq=False)
class GamePart:
    """Some games of a file, in its order."""

    numbers: npt.NDArray[np.int64]  # [n] which game of the file, from 1
    tags: tuple[GameTags, ...]  # [n]
    bounds: npt.NDArray[np.int64]  # [n + 1] the half-moves of game k are bounds[k] .. bounds[k + 1] - 1
    keys: Keys  # [plies] the position before each half-move
    codes: Codes  # [plies] the half-move
    odd: dict[int, str]
    """The text of the games that are no chess or begin elsewhere; they have no half-moves here."""
    broken: tuple[str, ...]
    """What was wrong with each game that was left out."""

    def __len__(self) -> int:
        return len(self.tags)


def parts(
    path: Path,
    *,
    keep: Path | None = None,
    limit: int = LIMIT,
    progress: Callable[[int], None] | None = None,
) -> Iterator[GamePart]:
    """The games of a file, a few thousand at a time; `progress` hears how many there were so far.

    With `keep`, a folder, what was read is kept there and taken from there the next time. A file that is
    broken raises BrokenFileError, after the parts that could be read.
    """
    kept = None if keep is None else keep / f"{digest_of(path)[:32]}-{limit}-{FORMAT}.games"
    source = _kept_parts(kept) if kept is not None and kept.exists() else None
    if source is None:
        fresh = read_parts(parts_of(path), str(path), limit)
        source = fresh if kept is None else _keeping(fresh, kept)
    count = 0
    for part in source:
        count += len(part) + len(part.broken)
        if progress is not None:
            progress(count)
        yield part


def read_parts(texts: Iterator[bytes], name: str, limit: int = LIMIT) -> Iterator[GamePart]:
    """The games of a text that comes in pieces; `name` is what to call it in messages."""
    games = np.zeros((GAMES, 6), dtype=np.int64)
    keys = np.zeros(GAMES * limit, dtype=np.uint64)
    codes = np.zeros(GAMES * limit, dtype=np.uint16)
    rest, before, fine = b"", 0, 0
    wrong = f"{name}: no games"
    text = next(texts, b"")
    while True:
        following = next(texts, b"")
        rest, last = rest + text, not following
        while True:
            buffer = np.frombuffer(rest, dtype=np.uint8)
            count, plies, at = mainline.read_games(buffer, limit, last, games, keys, codes)
            if count:
                part = _part(rest, games[:count], keys[:plies], codes[:plies], before, name)
                before, fine = before + count, fine + len(part)
                wrong = part.broken[0] if part.broken and not fine else wrong
                yield part
            rest = rest[at:]
            if count < GAMES:
                break
        if last:
            break
        if len(rest) > 16 * PART:
            raise BrokenFileError(f"{name}: no game ends within {len(rest):,} bytes; expected PGN")
        text = following
    if not fine:
        raise BrokenFileError(f"{wrong}; expected PGN")


def _part(
    text: bytes, games: npt.NDArray[np.int64], keys: Keys, codes: Codes, before: int, name: str
) -> GamePart:
    numbers: list[int] = []
    tags: list[GameTags] = []
    lengths: list[int] = []
    broken: list[str] = []
    kept = np.zeros(len(keys), dtype=np.bool_)
    odd: dict[int, str] = {}
    at = 0
    for k, (begin, moves, end, plies, flag, wrong) in enumerate(games.tolist()):
        given = dict(_TAG.findall(text[begin:moves]))
        told = GameTags(*(tag_of(given.get(tag.encode(), b"")) for tag in _NAMES))
        told = told._replace(
            date=tag_of(given.get(b"UTCDate", b"")) if told.date.strip("?.") == "" else told.date,
            result=told.result or _result(text, moves, end),
        )
        special = told.variation or told.odd_start
        if not given and not plies and flag == mainline.FINE:
            broken.append(f"{name}: game {before + k + 1} has neither tags nor moves")
            continue
        if special:
            odd[len(tags)] = text[begin:end].decode("utf-8", errors="replace")
        elif flag == mainline.BROKEN:
            words = text[wrong : wrong + 12].split()
            word = tag_of(words[0]) if words else ""
            line = text.count(b"\n", begin, wrong) + 1
            broken.append(f"{name}: game {before + k + 1}: '{word}' in its line {line} is not legal")
            at += plies
            continue
        else:
            kept[at : at + plies] = True
        at += plies
        numbers.append(before + k + 1)
        tags.append(told)
        lengths.append(0 if special else plies)
    bounds = np.zeros(len(tags) + 1, dtype=np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return GamePart(
        np.array(numbers, dtype=np.int64),
        tuple(tags),
        bounds,
        keys[kept],
        codes[kept],
        odd,
        tuple(broken),
    )


def _result(text: bytes, moves: int, end: int) -> str:
    words = text[max(moves, end - 8) : end].split()
    last = words[-1].decode("latin-1") if words else ""
    return last if last in ("1-0", "0-1", "1/2-1/2", "*") else ""


def _keeping(source: Iterator[GamePart], kept: Path) -> Iterator[GamePart]:
    """Pass parts on and write them down; a file read to its end is kept, and only then.

    That nothing can be written is no reason not to read.
    """
    draft = kept.with_name(f"{kept.name}.{np.random.SeedSequence().entropy:x}.tmp"[:200])
    file: IO[bytes] | None = None
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        file = draft.open("wb")
    try:
        for part in source:
            if file is not None:
                _write(file, part)
            yield part
        if file is not None:
            file.close()
            with draft.open("ab") as closing:
                closing.write(_checksum(draft).to_bytes(_SUM, "big"))
            draft.replace(kept)
    finally:
        if file is not None:
            file.close()
            draft.unlink(missing_ok=True)


def _write(file: IO[bytes], part: GamePart) -> None:
    told: dict[str, Any] = {"tags": part.tags, "odd": part.odd, "broken": part.broken}
    words = np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)
    for column in (words, part.numbers, part.bounds, part.keys, part.codes):
        np.save(file, column, allow_pickle=False)


def _kept_parts(path: Path) -> Iterator[GamePart] | None:
    """What was kept of a file, or None where it cannot be read: then the games are read again."""
    try:
        with path.open("rb") as file:
            file.seek(-_SUM, io.SEEK_END)
            if int.from_bytes(file.read(), "big") != _checksum(path, path.stat().st_size - _SUM):
                return None
    except OSError:
        return None
    return _open_kept(path)


def _checksum(path: Path, most: int = 1 << 62) -> int:
    """Of the first `most` bytes of a file."""
    total = 0
    with path.open("rb") as file:
        while most > 0 and (chunk := file.read(min(most, 1 << 20))):
            total = zlib.crc32(chunk, total)
            most -= len(chunk)
    return total


def _open_kept(path: Path) -> Iterator[GamePart]:
    with path.open("rb") as file:
        yield from _stored(file)


def _stored(file: IO[bytes]) -> Iterator[GamePart]:
    end = file.seek(0, io.SEEK_END) - _SUM
    file.seek(0)
    while file.tell() < end:
        words, numbers, bounds, keys, codes = (np.load(file, allow_pickle=False) for _ in range(5))
        told = json.loads(words.tobytes())
        tags = tuple(GameTags(*row) for row in told["tags"])
        odd = {int(k): text for k, text in told["odd"].items()}
        yield GamePart(numbers, tags, bounds, keys, codes, odd, tuple(told["broken"]))
