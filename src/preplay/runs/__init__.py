"""Runs and their results: everything that a command found, kept in a directory and found again.

`directory` knows the files of a run, `encoding` how a result becomes JSON, `keeping` saves and loads.
Each other module holds one kind of result and the function that makes it; they are heavier to import.
"""

from preplay.runs.directory import Run, find_book, find_chess_book, maker, open_run, start
from preplay.runs.encoding import as_data
from preplay.runs.keeping import load_run, save

__all__ = [
    "Run",
    "as_data",
    "find_book",
    "find_chess_book",
    "load_run",
    "maker",
    "open_run",
    "save",
    "start",
]
