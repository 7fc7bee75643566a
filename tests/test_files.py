"""Files: what is replaced, what is written in place, and what is refused."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import numpy as np
import pytest

from preplay.errors import InputError
from preplay.files import (
    check_apart,
    check_writable,
    parse_json,
    read_arrays,
    read_text,
    replacing,
    write_arrays,
    write_text,
)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_text(path, "one")

    def interrupted() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half of tw")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        interrupted()
    assert path.read_text() == "one"
    assert list(path.parent.iterdir()) == [path]


def test_two_files_to_write_are_two(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    check_apart(one, None, two, None, Path("/dev/null"), Path("/dev/null"))
    (tmp_path / "folder").mkdir()
    for same in (one, tmp_path / "folder" / ".." / "one"):
        with pytest.raises(InputError, match="one: is to be written twice; expected a file of its own"):
            check_apart(one, two, same)


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    check_writable(link)
    assert target.read_text() == "old"
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "elsewhere" / "later")
    write_text(dangling, "made")
    assert dangling.is_symlink()
    assert (tmp_path / "elsewhere" / "later").read_text() == "made"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    check_writable(pipe)
    write_text(pipe, "through")
    reader.join(10)
    assert got == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_stays_a_device() -> None:
    before = Path("/dev/null").stat()
    check_writable(Path("/dev/null"))
    write_text(Path("/dev/null"), "nothing")
    after = Path("/dev/null").stat()
    assert stat.S_ISCHR(after.st_mode)
    assert (after.st_rdev, after.st_ino) == (before.st_rdev, before.st_ino)


def test_directories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        check_writable(tmp_path)
    with pytest.raises(InputError, match="is a directory; expected a book"):
        read_text(tmp_path, "a book")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 1, column 2"),
        ("[" * 60_000, "nested too deeply"),
        ("9" * 5000, "thousands of digits"),
        ('{"a": ' + "1" * 5000 + "}", "thousands of digits"),
    ],
)
def test_json_that_is_none(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        parse_json(text, "file.json")
    assert str(caught.value).startswith("file.json: ")
    assert "\n" not in str(caught.value)


def test_an_array_that_damage_hides_is_missed(tmp_path: Path) -> None:
    """A length in the archive's directory that swallows the next part: the others are whole."""
    path = tmp_path / "file.npz"
    np.savez(path, first=np.arange(3), second=np.arange(4))
    assert read_arrays(path).keys() == {"first", "second"}
    data = bytearray(path.read_bytes())
    one, two = (data.index(b"PK\x01\x02", start) for start in (0, data.index(b"PK\x01\x02") + 1))
    end = data.index(b"PK\x05\x06")
    data[one + 32 : one + 34] = (end - two).to_bytes(2, "little")  # the length of a comment
    path.write_bytes(data)
    with np.load(path) as file:
        assert file.files == ["first"]
    with pytest.raises(ValueError, match="missing"):
        read_arrays(path)


def test_halves_of_characters_are_no_text() -> None:
    """Escaped pairs of surrogates are characters, and an escaped backslash escapes nothing after it."""
    assert parse_json(r'["\ud83d\ude00", "\\ud800"]', "here") == ["😀", r"\ud800"]
    for text in (
        r'"\ud800"',
        r'{"\udc00": 1}',
        r'"\ud83d and \ude00"',
        r'"\\\ud800"',
        r'"\ud83d\ud83d\ude00"',
    ):
        with pytest.raises(InputError, match="here: half of a character"):
            parse_json(text, "here")


def test_a_check_makes_no_folders(tmp_path: Path) -> None:
    """They are made with the file; what fails before leaves nothing behind."""
    path = tmp_path / "a" / "b" / "c.txt"
    check_writable(path)
    assert not list(tmp_path.iterdir())
    write_text(path, "text")
    check_writable(path)
    assert path.read_text() == "text"
    with pytest.raises(InputError, match="cannot be written"):
        check_writable(path / "d" / "e.txt")  # below a file


def test_arrays_are_found_again(tmp_path: Path) -> None:
    write_arrays(tmp_path / "deep" / "arrays.npz", {"a": np.arange(3), "b": np.array(["x", "ü"])})
    found = read_arrays(tmp_path / "deep" / "arrays.npz")
    assert {name: array.tolist() for name, array in found.items()} == {"a": [0, 1, 2], "b": ["x", "ü"]}
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["arrays.npz"]


def test_what_a_killed_process_left_is_removed_in_time(tmp_path: Path) -> None:
    path = tmp_path / "a[1].json"
    old, new, foreign = (
        tmp_path / name for name in ("a[1].json.7.tmp", "a[1].json.8.tmp", "b.json.7.tmp")
    )
    for left in (old, new, foreign):
        left.write_text("half")
    for left in (old, foreign):
        os.utime(left, (0.0, 0.0))
    write_text(path, "whole")
    assert sorted(tmp_path.iterdir()) == sorted((path, new, foreign))
