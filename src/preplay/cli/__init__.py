"""The command line: one file a verb, thin; stdout is data, stderr is progress and errors."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `preplay`: exit 0 when done, 1 on failure with one line, 2 on wrong usage, 130 on Ctrl-C."""
    from preplay.cli.app import app
    from preplay.errors import PreplayError

    try:
        app()
    except PreplayError as error:
        print(f"preplay: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("preplay: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
