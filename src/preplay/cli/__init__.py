"""The command line: one file a verb, thin; stdout is data, stderr is progress and errors."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as typing's, without the time of its import: Ctrl-C may come very early
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

LONGEST = 2000
"""Characters of a message."""
MISUSED, INTERRUPTED = 2, 130
YOUNG = 50_000
"""Objects made between two collections: imports and trees make many, and hardly any in circles."""


class Interrupted(BaseException):
    """Ctrl-C; no KeyboardInterrupt, which the parser of the command line takes for its own."""


class MisuseError(Exception):
    """A command line that cannot be read: one line, and its own exit code."""


def launched() -> None:
    """Run for the launcher, the command `preplay` beside the script that calls this."""
    sys.argv[0] = sys.argv[0].removesuffix("-main")
    main()


def main() -> None:
    """Run `preplay`: exit 0 when done, 1 on failure with one line, 2 on wrong usage, 130 on Ctrl-C."""
    try:
        import signal

        if (
            ours := signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
        ):  # by `nohup`, or `&` in a script
            signal.signal(signal.SIGINT, _interrupt)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # the launcher held it back
        try:
            _run()
        finally:  # nothing is left to do: a late Ctrl-C ends what Python does at its end
            if ours:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
    except (Interrupted, KeyboardInterrupt):
        _fail("interrupted", INTERRUPTED)


def _run() -> None:
    import gc
    import io

    from preplay.errors import PreplayError

    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # looked for in all that is installed
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's threads wait busily; nothing needs them
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot show is shown as \\u....
            stream.reconfigure(errors="backslashreplace")
    try:
        from preplay.cli.app import VERBS, application

        asked = [verb for verb in sys.argv[1:2] if verb in VERBS]
        application(asked or VERBS)()
        sys.stdout.flush()
    except MisuseError as error:
        _fail(str(error), MISUSED)
    except PreplayError as error:
        _fail(str(error), 1)
    except BrokenPipeError:
        _quit(1)
    except OSError as error:
        _fail(f"{error.filename or 'cannot write'}: {error.strerror or error}", 1)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Ctrl-C ends what is being done; within an import, where exceptions may get lost, at once."""
    while frame is not None:
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            os.write(2, b"preplay: interrupted\n")
            os._exit(INTERRUPTED)
        frame = frame.f_back
    raise Interrupted


def _fail(message: str, code: int) -> NoReturn:
    """Say in one line what was wrong."""
    from preplay.text import harmless

    line = harmless(" ".join(message.split()))
    print(f"preplay: {line if len(line) <= LONGEST else line[:LONGEST] + ' ...'}", file=sys.stderr)
    _quit(code)


def _quit(code: int) -> NoReturn:
    """Exit with a code; output that can no longer be written is dropped silently."""
    try:
        sys.stdout.flush()
        sys.exit(code)
    except OSError:
        pass
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
