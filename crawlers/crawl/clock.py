"""Seconds since 1970 that never decrease: a crawl must not stop when the system clock is set back."""

from __future__ import annotations

import time


class ForwardClock:
    """Returns the time of its creation plus the time that has passed since."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def __call__(self) -> float:
        return self._offset + time.monotonic()
