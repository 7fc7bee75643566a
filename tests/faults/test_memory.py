"""Small files that unpack to much, or claim to: refused with one line, in little memory."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest

READ = """
import resource, sys
from pathlib import Path
import numpy, chess
from preplay.book import load as load_book
from preplay.chess.players.opponents import load_opponent
from preplay.errors import PreplayError
from preplay.games import tabular
from preplay.tree import load as load_tree
path = Path(sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    eval(sys.argv[1])(path)
except PreplayError as error:
    assert len(str(error).splitlines()) == 1
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
MEGABYTES = 300
"""What a reader may take for a file of 3 MB."""


def header(shape: str, kind: str = "<f8") -> bytes:
    """The beginning of an .npy file."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + (len(text) + 1).to_bytes(2, "little") + text + b"\n"


def bomb(path: Path) -> None:
    """Half a gigabyte of zeros in half a megabyte."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file,
        file.open("value.npy", "w", force_zip64=True) as part,
    ):
        part.write(header("(67108864,)"))
        for _ in range(8):
            part.write(bytes(1 << 26))


def claim(path: Path) -> None:
    """A header that claims a terabyte."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("value.npy", header("(131072000000,)") + bytes(1000))


def packed(path: Path) -> None:
    """A fitted opponent with a column of zeros."""
    squeeze = zlib.compressobj(1)
    column = b"".join(squeeze.compress(bytes(1 << 26)) for _ in range(8)) + squeeze.flush()
    table = {"rows": 1, "keys": base64.b64encode(column).decode(), "codes": "", "counts": ""}
    path.write_text(json.dumps({"format": "preplay-opponent/1", "own": table}))


def nested(path: Path) -> None:
    path.write_text('{"format": "preplay-book/1", "entries": ' + "[" * 3_000_000)


@pytest.mark.parametrize(
    ("make", "reader"),
    [
        (bomb, "load_tree"),
        (claim, "load_tree"),
        (packed, "load_opponent"),
        (nested, "load_book"),
        (nested, "tabular.load"),
    ],
)
def test_a_small_file_takes_little_memory(make: object, reader: str, tmp_path: Path) -> None:
    make(tmp_path / "file")  # type: ignore[operator]
    assert (tmp_path / "file").stat().st_size < 6 << 20
    words = [sys.executable, "-c", READ, reader, str(tmp_path / "file")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=True)
    assert int(done.stdout) < MEGABYTES * 1024
