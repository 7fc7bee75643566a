"""The command `preplay` is a shell script: it starts what is beside it with Ctrl-C held back."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

LAUNCHER = Path(__file__).parents[2] / "scripts" / "preplay"
MAIN = """#!/bin/sh
printf '<%s>' "$@"
echo
[ ! -r /proc/self/status ] || while read -r row; do echo "$row"; done </proc/self/status
exit 7
"""
"""Stands for the installer's script: its arguments, and which signals it holds back and ignores."""
WORDS = ["prepare", "my game.json", "", "it's $HOME `x` *", '"', "-e"]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "an environment" / "bin"
    folder.mkdir(parents=True)
    shutil.copy(LAUNCHER, folder / "preplay")
    (folder / "preplay-main").write_text(MAIN)
    (folder / "preplay-main").chmod(0o755)
    return folder


def signals(said: str, kind: str) -> bool:
    """Whether SIGINT is among the signals of this kind."""
    found = re.search(rf"{kind}:\s*([0-9a-f]+)", said)
    assert found, said
    return bool(int(found[1], 16) >> (signal.SIGINT - 1) & 1)


def ran(words: list[str], where: Path, path: str | None = None, *, ignored: bool = False) -> str:
    handler = signal.SIG_IGN if ignored else signal.SIG_DFL
    done = subprocess.run(
        words,
        cwd=where,
        env=None if path is None else {"PATH": path},
        preexec_fn=lambda: signal.signal(signal.SIGINT, handler),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 7, done.stderr
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
def test_it_finds_what_is_beside_it(shell: str, bin_folder: Path, tmp_path: Path) -> None:
    """Called by its path, by its name, and by symbolic links from elsewhere; arguments stay whole."""
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    links = tmp_path / "the links"
    links.mkdir()
    (links / "absolute").symlink_to(bin_folder / "preplay")
    (links / "relative").symlink_to(Path("..") / "an environment" / "bin" / "preplay")
    (links / "second").symlink_to("relative")
    (tmp_path / "folder").symlink_to(bin_folder)
    calls = [
        (bin_folder / "preplay", tmp_path),
        ("preplay", bin_folder),
        ("./preplay", bin_folder),
        (links / "absolute", tmp_path),
        (links / "relative", tmp_path),
        ("second", links),
        ("folder/preplay", tmp_path),
    ]
    for name, where in calls:
        said = ran([shell, str(name), *WORDS], where)
        assert said.splitlines()[0] == "".join(f"<{word}>" for word in WORDS), name
    assert ran([str(bin_folder / "preplay"), *WORDS], tmp_path).startswith("<prepare>")


@linux
@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("holder", ["env", "perl", "nobody"])
def test_ctrl_c_is_held_back_where_something_can(
    holder: str, shell: str, bin_folder: Path, tmp_path: Path
) -> None:
    if shutil.which(shell) is None or (holder == "perl" and shutil.which("perl") is None):
        pytest.skip(f"no {shell}, or no perl")
    path = "/usr/bin:/bin"
    if holder != "env":  # an env that is not GNU's
        tools = tmp_path / "tools"
        tools.mkdir()
        (tools / "env").write_text("#!/bin/sh\necho 'env: illegal option -- -' >&2\nexit 1\n")
        (tools / "env").chmod(0o755)
        path = f"{tools}:{path}" if holder == "perl" else str(tools)
    command = [str(shutil.which(shell)), str(bin_folder / "preplay")]
    assert signals(ran(command, tmp_path, path), "SigBlk") == (holder != "nobody")
    assert not signals(ran(command, tmp_path, path), "SigIgn")
    assert signals(ran(command, tmp_path, path, ignored=True), "SigIgn")


def test_what_is_missing_is_told(bin_folder: Path) -> None:
    (bin_folder / "preplay-main").unlink()
    done = subprocess.run([str(bin_folder / "preplay")], capture_output=True, text=True)
    assert done.returncode == 127
    assert "preplay-main" in done.stderr


def test_the_installed_command_is_this_one() -> None:
    installed = Path(sys.executable).with_name("preplay")
    names = {entry.name for entry in distribution("preplay").entry_points}
    if "preplay-main" not in names:
        pytest.skip("installed before there was a launcher: run `make setup`")
    assert installed.read_text() == LAUNCHER.read_text()
    done = subprocess.run([str(installed), "nonsense"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "preplay: no such command 'nonsense'; see `preplay --help`\n"
