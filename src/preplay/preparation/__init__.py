"""Preparing one side: grow the tree, choose the book, judge it, keep what is needed to explain it.

`preparing` puts the stages together, `stages` has each of them, `found` what comes out, `explaining` the
book with what each entry is worth.
"""

from preplay.preparation.explaining import book_of, entry, moves
from preplay.preparation.found import Explored, Fixed, Prepared, Refused, curve_error
from preplay.preparation.preparing import explore, prepare
from preplay.preparation.stages import values_of

__all__ = [
    "Explored",
    "Fixed",
    "Prepared",
    "Refused",
    "book_of",
    "curve_error",
    "entry",
    "explore",
    "moves",
    "prepare",
    "values_of",
]
