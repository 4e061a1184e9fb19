"""How long a search or a page may take."""

from __future__ import annotations

import time


class TimeLimit:
    """A time that begins now and is over after *seconds*: called, it returns whether it is."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def __call__(self) -> bool:
        return time.monotonic() > self._until

    @property
    def left_s(self) -> float:
        """What is left of it, in seconds."""
        return max(0.0, self._until - time.monotonic())
