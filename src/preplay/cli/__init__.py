"""The command line: one file a verb, thin; stdout is data, stderr is progress and errors."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import NoReturn

LONGEST = 2000
"""Characters of a message."""


def main() -> None:
    """Run `preplay`: exit 0 when done, 1 on failure with one line, 2 on wrong usage, 130 on Ctrl-C."""
    from preplay.errors import PreplayError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot show is shown as \\u....
            stream.reconfigure(errors="backslashreplace")
    try:
        from preplay.cli.app import app

        app()
        sys.stdout.flush()
    except PreplayError as error:
        _fail(str(error), 1)
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    except BrokenPipeError:
        _quit(1)
    except OSError as error:
        _fail(f"{error.filename or 'cannot write'}: {error.strerror or error}", 1)


def _fail(message: str, code: int) -> NoReturn:
    """Say in one line what was wrong."""
    from preplay.text import harmless

    line = harmless(" ".join(message.split()))
    print(f"preplay: {line if len(line) <= LONGEST else line[:LONGEST] + ' ...'}", file=sys.stderr)
    _quit(code)


def _quit(code: int) -> NoReturn:
    """Exit with a code; output that can no longer be written is dropped silently."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.exit(code)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
