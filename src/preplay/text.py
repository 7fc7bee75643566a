"""Words of others, shown so that they do no harm: to a terminal, or to who opens a table."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that spreadsheets take for a formula."""


def harmless(text: str) -> str:
    """The text with control characters written out, so that a terminal obeys none of them."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def unprintable(text: str) -> str | None:
    """The first character that no name may hold (a control character, a lone surrogate), if any."""
    for character in text:
        if character == "\x00" or "\ud800" <= character <= "\udfff":
            return ascii(character)[1:-1]
    return None


def cell(text: str) -> str:
    """A cell of a table that a spreadsheet takes for text, whatever it begins with."""
    number = text.lstrip("+-").replace(".", "", 1).replace("e-", "", 1).isdigit()
    return f"'{text}" if text.startswith(FORMULA) and not number else text
