"""How many events there were per second over the last minute."""

from __future__ import annotations

from collections import deque


class RecentRate:
    """Averages a count over the last *window_s* seconds; O(1) on average, one number per reading in memory."""

    def __init__(self, window_s: float = 60.0) -> None:
        self._window_s = window_s
        self._readings: deque[tuple[float, int]] = deque()  # (time, total), oldest first

    def at(self, now: float, total: int) -> float:
        """Return the events per second until *now*, when there have been *total* events; 0 at the first call.

        >>> rate = RecentRate(window_s=60.0)
        >>> rate.at(0.0, 5), rate.at(10.0, 25), rate.at(70.0, 85)
        (0.0, 2.0, 1.0)
        """
        self._readings.append((now, total))
        while len(self._readings) > 2 and self._readings[1][0] <= now - self._window_s:
            self._readings.popleft()
        since, before = self._readings[0]
        return (total - before) / (now - since) if now > since else 0.0
