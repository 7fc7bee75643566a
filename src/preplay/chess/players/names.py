"""Who is meant by a name: spelled with or without accents, initials, and in either order."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i", "'": "", "’": ""}
)
"""Letters that no accent can be taken from."""
_WORD = re.compile(r"[^\W_]+")
ALIKE = 0.8
"""How much of two surnames must agree for them to be taken for two spellings of one."""


@lru_cache(maxsize=100_000)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, folded: without case, accents and punctuation."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c)).translate(_LETTERS)
    return tuple(_WORD.findall(plain))


def surname_of(name: str) -> tuple[str, ...]:
    """The words of the surname: those before the comma, or else the last one that is no initial."""
    before, comma, _ = name.partition(",")
    if comma and (words := words_of(before)):
        return words
    full = [word for word in words_of(name) if len(word) > 1] or list(words_of(name))
    return tuple(full[-1:])


def _fits(one: str, other: str) -> bool:
    """Whether two words are the same, or one is the initial of the other."""
    return one == other or (min(len(one), len(other)) == 1 and one[0] == other[0])


def _all_found(few: tuple[str, ...], many: tuple[str, ...]) -> bool:
    """Whether every word of `few` fits a word of `many` of its own, full words first."""
    left = list(many)
    for word in sorted(few, key=lambda word: -len(word)):
        best = next((w for w in left if w == word), None) or next(
            (w for w in left if _fits(w, word)), None
        )
        if best is None:
            return False
        left.remove(best)
    return True


@lru_cache(maxsize=100_000)
def same_name(wanted: str, found: str) -> bool:
    """Whether a name in a file is the one that is wanted.

    All words of the wanted name must be there, in any order, as words or as initials, and one of them
    in full: "Nimzowitsch" is "Nimzowitsch, Aron" and "A. Nimzowitsch", but no part of "Nimzowitschka".
    A file that has fewer words must have the surname: "Carlsen, Magnus" is "Carlsen", not "Magnus".
    """
    mine, theirs = words_of(wanted), words_of(found)
    if not mine or mine == theirs:
        return bool(mine)
    if len(theirs) < len(mine):
        surname = set(surname_of(wanted))
        return surname <= set(theirs) and _all_found(theirs, mine)
    shared = {word for word in mine if word in theirs}
    return any(len(word) > 1 for word in shared) and _all_found(mine, theirs)


def meant(wanted: Iterable[str], found: str) -> bool:
    """Whether a name in a file is one of those wanted; everybody is where none is."""
    names = tuple(wanted)
    return not names or any(same_name(name, found) for name in names)


def other_spellings(wanted: Iterable[str], others: Mapping[str, int]) -> dict[str, int]:
    """Names that are not wanted, but whose surname is nearly that of one that is, with their games."""
    mine = {" ".join(surname_of(name)) for name in wanted}
    near: Counter[str] = Counter()
    for name, games in others.items():
        surname = " ".join(surname_of(name))
        for word in mine:
            alike = difflib.SequenceMatcher(None, word, surname).ratio()
            if surname and word != surname and alike >= ALIKE and surname[0] == word[0]:
                near[name] = games
    return dict(near.most_common())
