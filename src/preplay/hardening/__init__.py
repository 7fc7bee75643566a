"""Hiding: the way of playing that is hardest to prepare against (fact 11 of docs/model.md)."""

from preplay.hardening.hiding import Hardened, harden, menus_to_hide
from preplay.hardening.mixes import Mix, against, mix_of, played_by
from preplay.hardening.softmax import Softmax

__all__ = ["Hardened", "Mix", "Softmax", "against", "harden", "menus_to_hide", "mix_of", "played_by"]
