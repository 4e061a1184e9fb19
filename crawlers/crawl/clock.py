"""Seconds since 1970 that only go forward: a clock that is set back must not stop a crawl."""

from __future__ import annotations

import time


class ForwardClock:
    """Called, it gives the time of day at its making plus what has passed since."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def __call__(self) -> float:
        return self._offset + time.monotonic()
