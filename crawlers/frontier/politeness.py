"""Politeness towards one host: concurrent downloads, the delay between them, and rests that the host requests.

Pure: *now* is an argument, in seconds.
"""

from __future__ import annotations

FIRST_REST_S = 1.0  # without Retry-After; doubles at each further refusal
MAX_REST_S = 300.0  # a longer Retry-After is cut: a hostile host must not stall the crawl for days
FIRST_DELAY_S = 0.1  # of a host without any delay after its first refusal
MAX_DELAY_S = 30.0
RELIEF = 0.9  # after each good response: a delay halves within seven of them


class HostGate:
    """Determines when the next request may be sent to a host.

    A host that responds with 429 or 503 rests for the time of its `Retry-After`. Without that header, the rest
    doubles with each refusal, and so does the delay, which decreases again with good responses: so the crawl
    finds an unknown rate limit and stays close to it.
    """

    def __init__(self, parallel: int, delay_s: float) -> None:
        self.parallel = parallel
        self.delay_s = delay_s
        self._requested_delay_s = delay_s
        self.in_flight = 0
        self.next_at = float("-inf")  # not before this time
        self.resting_until = float("-inf")
        self._started_at = float("-inf")  # the last start
        self._next_before = float("-inf")  # `next_at` as it was before that
        self.asked_at = float("-inf")  # the last request of any kind was sent then
        self._asked_before = float("-inf")  # `asked_at` as it was before the last start
        self._rest_s = FIRST_REST_S

    def ask_for_delay(self, delay_s: float) -> None:
        """Set the least delay between the starts of two downloads (Crawl-delay)."""
        self._requested_delay_s = max(self._requested_delay_s, delay_s)
        self.delay_s = max(self.delay_s, delay_s)

    def resume(self, asked_until: float, rest_until: float, now: float) -> None:
        """Note that an earlier process may have sent requests until *asked_until* <= *now*.

        The host has requested a pause until *rest_until*, which is shortened if the clock was set back since then.
        """
        self.asked_at = asked_until
        self.resting_until = min(rest_until, now + MAX_REST_S)
        self.next_at = max(self.next_at, asked_until + self.delay_s, self.resting_until)

    def record_start(self, now: float) -> None:
        self.in_flight += 1
        self._started_at = now
        self._next_before, self._asked_before = self.next_at, self.asked_at
        self.asked_at = now
        if self.delay_s:
            self.next_at = max(self.next_at, now) + self.delay_s

    def record_request(self, now: float) -> None:
        """Note that a request was sent at *now* at the latest: one for robots.txt, or that of a lease."""
        self.asked_at = max(self.asked_at, now)
        self.next_at = max(self.next_at, now + self.delay_s)

    def record_end(self) -> None:
        self.in_flight -= 1

    def schedule_request(self, now: float) -> float:
        """Record a further request of a lease in flight; return the time at which it may be sent."""
        sent_at = self.asked_at = max(self.next_at, now)
        self.next_at = sent_at + self.delay_s
        return sent_at

    def cancel_start(self, started_at: float) -> None:
        """Undo `record_start` of *started_at*: no request was sent to the host.

        The delay is refunded for the last start only: later downloads rely on the delay of an earlier one.
        """
        self.in_flight -= 1
        if started_at == self._started_at:
            self.next_at = max(self._next_before, self.resting_until)
            if self.asked_at == started_at:
                self.asked_at = self._asked_before

    def relax(self) -> None:
        """Record a good response: the rest is reset, the delay decreases towards the requested one."""
        self._rest_s = FIRST_REST_S
        if self.delay_s > self._requested_delay_s:
            lower = self.delay_s * RELIEF
            self.delay_s = lower if lower > max(self._requested_delay_s, 0.001) else self._requested_delay_s

    def back_off(self, now: float, retry_after_s: float | None) -> float:
        """Record a refusal at *now*; return the time at which the next request may be sent.

        Responses to requests that were in flight when the rest began do not prolong it unless they have `Retry-After`.
        """
        rest_s = 0.0
        if retry_after_s is not None:
            rest_s = min(retry_after_s, MAX_REST_S)
        elif now >= self.resting_until:
            rest_s = self._rest_s
            self._rest_s = min(self._rest_s * 2, MAX_REST_S)
            self.delay_s = min(max(self.delay_s * 2, FIRST_DELAY_S), max(MAX_DELAY_S, self._requested_delay_s))
        self.resting_until = max(self.resting_until, now + rest_s)
        self.next_at = max(self.next_at, self.resting_until)
        return self.resting_until
