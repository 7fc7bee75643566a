"""Running commands inside the test process."""

from __future__ import annotations

import sys

import pytest

from preplay import cli


def preplay(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Run a command in this process: its exit code, stdout and stderr."""
    before, sys.argv = sys.argv, ["preplay", *map(str, words)]
    try:
        cli.main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    finally:
        sys.argv = before
    out, err = capsys.readouterr()
    return code, out, err
