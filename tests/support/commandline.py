"""Running commands inside the test process."""

from __future__ import annotations

import signal
import sys

import pytest

from preplay import cli


def preplay(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Run a command in this process: its exit code, stdout and stderr."""
    before, sys.argv = sys.argv, ["preplay", *map(str, words)]
    ctrl_c = signal.getsignal(signal.SIGINT)  # a command leaves it to the system at its end
    try:
        cli.main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    finally:
        sys.argv = before
        signal.signal(signal.SIGINT, ctrl_c)
    out, err = capsys.readouterr()
    return code, out, err
