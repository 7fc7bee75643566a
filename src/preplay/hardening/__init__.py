"""Hiding: the way of playing that is hardest to prepare against (fact 11 of docs/model.md)."""

from preplay.hardening.harden import Hardened, Mix, Softmax, against_choice, harden, played_by

__all__ = ["Hardened", "Mix", "Softmax", "against_choice", "harden", "played_by"]
