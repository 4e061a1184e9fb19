"""Politeness towards one host: how many downloads at a time, how far apart, and when it asks for rest.

Pure: *now* comes in, in seconds.
"""

from __future__ import annotations

FIRST_REST_S = 1.0  # without Retry-After; doubles at each further refusal
LONGEST_REST_S = 300.0  # a longer Retry-After is cut: a hostile host must not park the crawl for days
FIRST_DELAY_S = 0.1  # what a host without any delay gets after it refused
LONGEST_DELAY_S = 30.0
RELIEF = 0.9  # after each good answer: a delay halves within seven of them


class HostGate:
    """Says when a host may be asked again.

    A host that answers 429 or 503 rests as long as it asks (`Retry-After`). If it does not say, it rests for
    a time that doubles from refusal to refusal, and its delay doubles, too, to come down with good answers:
    so a limit that nobody told us is found and kept near.
    """

    __slots__ = (
        "_asked_delay_s",
        "_next_before",
        "_rest_s",
        "_started_at",
        "delay_s",
        "in_flight",
        "next_at",
        "parallel",
        "resting_until",
    )

    def __init__(self, parallel: int, delay_s: float) -> None:
        self.parallel = parallel
        self.delay_s = delay_s
        self._asked_delay_s = delay_s
        self.in_flight = 0
        self.next_at = float("-inf")  # not before this time
        self.resting_until = float("-inf")
        self._started_at = float("-inf")  # the last start
        self._next_before = float("-inf")  # `next_at` as it was before that
        self._rest_s = FIRST_REST_S

    def ask_for_delay(self, delay_s: float) -> None:
        """Never start downloads closer together than this (Crawl-delay)."""
        self._asked_delay_s = max(self._asked_delay_s, delay_s)
        self.delay_s = max(self.delay_s, delay_s)

    @property
    def is_full(self) -> bool:
        return self.in_flight >= self.parallel

    def started(self, now: float) -> None:
        self.in_flight += 1
        self._started_at = now
        self._next_before = self.next_at
        if self.delay_s:
            self.next_at = max(self.next_at, now) + self.delay_s

    def ended(self) -> None:
        self.in_flight -= 1

    def cancelled(self, started_at: float) -> None:
        """The download that `started` counted at *started_at* was none: the host was not asked.

        The delay is given back for the last start only: after an earlier one, others came that count.
        """
        self.in_flight -= 1
        if started_at == self._started_at:
            self.next_at = max(self._next_before, self.resting_until)

    def answered(self) -> None:
        """A good answer came: the rest is forgiven, the delay comes down towards what was asked for."""
        self._rest_s = FIRST_REST_S
        if self.delay_s > self._asked_delay_s:
            lower = self.delay_s * RELIEF
            self.delay_s = lower if lower > max(self._asked_delay_s, 0.001) else self._asked_delay_s

    def refused(self, now: float, retry_after_s: float | None) -> float:
        """The host asked for rest at *now*; returns the time at which it may be asked again.

        Answers to requests that were under way when the rest began don't prolong it by themselves.
        """
        rest_s = 0.0
        if retry_after_s is not None:
            rest_s = min(retry_after_s, LONGEST_REST_S)
        elif now >= self.resting_until:
            rest_s = self._rest_s
            self._rest_s = min(self._rest_s * 2, LONGEST_REST_S)
            self.delay_s = min(max(self.delay_s * 2, FIRST_DELAY_S), max(LONGEST_DELAY_S, self._asked_delay_s))
        self.resting_until = max(self.resting_until, now + rest_s)
        self.next_at = max(self.next_at, self.resting_until)
        return self.resting_until
