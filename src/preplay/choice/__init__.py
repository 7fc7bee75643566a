"""Books that choose their moves, and books whose memory is by position."""

from preplay.choice.menus import Choice, choose, choose_known

__all__ = ["Choice", "choose", "choose_known"]
