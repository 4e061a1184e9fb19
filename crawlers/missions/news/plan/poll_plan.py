"""Plans when each feed or section page is polled again: learns their rates, and distributes a budget of polls.

The prices of `lambda_crawl` are computed for all feeds at once, but only after enough changes; at given prices, a
formula yields the polls of each feed. The caller stores the due times, and the `PollState` of each feed for a restart.
Rates are per second.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

PRIOR_ITEMS, PRIOR_SECONDS = 0.5, 900.0  # two items per hour, and uncertain enough that 20 are plausible
MEMORY_ITEMS = 30.0  # evidence kept: an hour or two of a fast feed, so that rates follow the time of day
MEMORY_SECONDS = (7200.0, 3 * 86_400.0)  # bounds of the time kept: dead feeds are recognised after days
SURPRISE = 3.0  # standard deviations (plus one item) above the expectation: the learnt rate is obsolete


class ArrivalRate(NamedTuple):
    """The rate of new items of a feed: a Gamma-Poisson estimate with fading evidence."""

    items: float = 0.0
    seconds: float = 0.0

    @property
    def per_s(self) -> float:
        """Items per second, the posterior mean.

        >>> round(ArrivalRate(items=30, seconds=5400).per_s * 3600, 1)
        17.4
        """
        return (self.items + PRIOR_ITEMS) / (self.seconds + PRIOR_SECONDS)

    def upper_per_s(self, deviations: float) -> float:
        """Return an upper bound of items per second.

        The true rate exceeds it with the probability that a normal variable exceeds its mean by this number of standard
        *deviations*. The cube of a normal variable approximates the Gamma distribution (Wilson and Hilferty, 1931).
        """
        shape = self.items + PRIOR_ITEMS
        root = 1.0 - 1.0 / (9.0 * shape) + deviations / (3.0 * math.sqrt(shape))
        return shape * max(root, 1.0) ** 3 / (self.seconds + PRIOR_SECONDS)

    def after(self, new_items: int, elapsed_s: float, *, is_full: bool = False) -> ArrivalRate:
        """Return the state after a poll that found *new_items*, *elapsed_s* after the previous one.

        *is_full*: all items of the feed were new, so others may have been missed. Twice as many are then assumed, so
        that the next poll is early enough to count them.

        >>> ArrivalRate().after(3, 3600.0)
        ArrivalRate(items=3.0, seconds=3600.0)
        >>> ArrivalRate(0.0, 86400.0).after(20, 3600.0)  # it became active again
        ArrivalRate(items=20.0, seconds=3600.0)
        """
        if elapsed_s <= 0.0:
            return self
        found = 2.0 * new_items if is_full else float(new_items)
        expected = self.per_s * elapsed_s
        if found > expected + SURPRISE * math.sqrt(expected) + 1.0:
            return ArrivalRate(found, elapsed_s)._remembered()
        return ArrivalRate(self.items + found, self.seconds + elapsed_s)._remembered()

    def _remembered(self) -> ArrivalRate:
        """Return the same rate with no more evidence than is kept."""
        shortest, longest = MEMORY_SECONDS
        kept = min(self.seconds, max(shortest, min(longest, MEMORY_ITEMS / self.per_s)))
        return ArrivalRate(self.items * kept / self.seconds, kept)


Floats: TypeAlias = NDArray[np.float64]
STEPS = 200  # of a bisection at most; it ends earlier, when the bounds are adjacent floats


def harmonic(rate: Floats, price: Floats) -> Floats:
    """Return the visits per second of each page, rho, at which an additional one is worth *price* (LambdaCrawl).

    Solves *rate* / (rho (rho + *rate*)) = *price*, without subtracting nearly equal numbers. The arrays are of one
    shape; rho is positive if *rate* is, and infinite if *price* is 0.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        value = 1.0 / price
        visits = 2.0 * value / (1.0 + np.sqrt(1.0 + 4.0 * value / rate))
    return np.where(rate > 0.0, np.where(np.isnan(visits), np.inf, visits), 0.0)


def best_visits(rate: float, price: float) -> float:
    """Return `harmonic` for one page with *rate* > 0, without arrays.

    >>> best_visits(2.0, 1 / 4)
    2.0
    """
    value = 1.0 / price if price > 0.0 else math.inf
    return 2.0 * value / (1.0 + math.sqrt(1.0 + 4.0 * value / rate)) if value < math.inf else math.inf


@dataclass(frozen=True, slots=True)
class Allocation:
    """The optimal distribution of a budget of visits."""

    rates: Floats  # visits per s of each page
    price: float  # the marginal value of the budget; 0 if all pages have their highest rate
    host_prices: Floats  # by host: the marginal value of its cap, 0 if that is not binding; the larger price applies
    share: float  # of the lowest rates that the budget allows: 1, or less if their sum exceeds it
    host_shares: Floats  # by host: share of the lowest rates that its cap allows


def lambda_crawl(
    rate: Floats, budget_per_s: float, lowest: Floats, highest: float, host: NDArray[np.int64], caps: Floats
) -> Allocation:
    """Return the optimal visits per second of equally important pages, in the given order, under a budget.

    *rate* are their changes per second, >= 0. A page gets between *lowest* and *highest* visits per second, all pages
    together at most *budget_per_s*, those of host number h = *host*[i] at most *caps*[h]. If the lowest rates exceed
    the budget or a cap, each page gets the same share of its lowest rate.

    >>> none, one, uncapped = np.zeros(2), np.zeros(2, np.int64), np.array([np.inf])
    >>> lambda_crawl(np.array([1.0, 100.0]), 1.0, none, np.inf, one, uncapped).rates.round(3).tolist()
    [0.415, 0.585]

    Notes
    -----
    Minimises the sum of ln((rate + rho) / rho), where rho is the visits per second. The visits
    decrease as the price increases, so one bisection finds the prices of all hosts at once, and a second one the price
    of the budget: O(n) per step, some 60 steps. The larger of the two prices fulfils the Karush-Kuhn-Tucker conditions.

    References
    ----------
    .. [1] Kolobov, Peres, Lu, Horvitz (2019), Staying up to Date with Online Content Changes Using Reinforcement
       Learning for Scheduling, NeurIPS.
    .. [2] Kolobov, Peres, Lubetzky, Horvitz (2019), Optimal Freshness Crawl under Politeness Constraints, SIGIR.
    .. [3] Azar, Horvitz, Lubetzky, Peres, Shahaf (2018), Tractable near-optimal policies for crawling, PNAS 115.
    """
    low = np.minimum(lowest, highest)

    def of_hosts(visits: Floats) -> Floats:
        return np.bincount(host, visits, caps.size).astype(np.float64)

    host_shares = _shares(caps, of_hosts(low))
    low = low * host_shares[host]
    share = float(_shares(np.array([budget_per_s]), low.sum(keepdims=True))[0])
    low = low * share

    def visits_at(price: Floats) -> Floats:
        return np.clip(harmonic(rate, price), low, highest)

    host_prices = _prices(lambda price: of_hosts(visits_at(price[host])), caps)
    at_least = host_prices[host]
    price = _prices(lambda price: visits_at(np.maximum(price, at_least)).sum(keepdims=True), np.array([budget_per_s]))
    return Allocation(visits_at(np.maximum(price, at_least)), float(price[0]), host_prices, share, host_shares)


def _shares(allowed: Floats, wanted: Floats) -> Floats:
    """Return the share of *wanted* that is *allowed*, at most 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(wanted > allowed, allowed / wanted, 1.0)


def _prices(visits_at: Callable[[Floats], Floats], allowed: Floats) -> Floats:
    """Return the lowest prices with at most *allowed* visits; infinity where the lowest rates use up all of them."""
    free = visits_at(np.zeros(allowed.shape))
    is_scarce = ~(free <= allowed)  # also if NaN
    below, above = np.full(allowed.shape, -700.0), np.full(allowed.shape, 700.0)  # logarithms, for prices of any scale
    never = is_scarce & (visits_at(np.exp(above)) >= allowed * (1.0 - 1e-12))
    for _ in range(STEPS):
        middle = (below + above) / 2
        if not ((middle > below) & (middle < above) & is_scarce & ~never).any():
            break
        too_many = visits_at(np.where(is_scarce, np.exp(middle), 0.0)) > allowed
        below, above = np.where(too_many, middle, below), np.where(too_many, above, middle)
        if (above - below).max(initial=0.0) < 1e-12:
            break
    return np.where(never, np.inf, np.where(is_scarce, np.exp(above), 0.0))


NEVER = -math.inf
USUAL_WINDOW = 10  # items assumed for a feed before its first poll: few feeds show less
BURST = 2.0  # the busiest hours of a day may have this many times the items of those that the rate was learnt from
Z_BOUND = 3.0  # standard deviations: the probability of an overflowing window, and that of a rate above its bound
HOST_SHARE = 0.5  # of the requests that the delay of a host allows, for polls; the rest is for items
MAX_DRIFT = 0.05  # of the budget: if the polls per second changed by more in total, the prices are computed again
CYCLE = 16  # but only after one in 16 feeds was polled, so that the cost per poll does not grow with the feeds
JITTER = 0.1  # of an interval, so that polls do not synchronise with feeds that publish on the hour
GOLDEN = 0.6180339887498949  # multiples of the golden ratio are evenly distributed modulo 1


class PollState(NamedTuple):
    """The state of a feed that is stored for a restart, in addition to its due time."""

    polled_at: float = NEVER  # time of the last successful poll
    window: int = USUAL_WINDOW  # number of items in the feed
    rate: ArrivalRate = ArrivalRate()


@dataclass(frozen=True, slots=True)
class PollLimits:
    """The bounds of the interval between two polls of a feed."""

    shortest_s: float = 60.0
    longest_s: float = 6 * 3600.0
    deadline_s: float = 12 * 3600.0  # from an item's publication until it is stored

    @property
    def slowest_s(self) -> float:
        """The longest interval that meets the deadline: half of it, which leaves the rest for items and retries."""
        return max(self.shortest_s, min(self.longest_s, self.deadline_s / 2))


def safe_s(rate: ArrivalRate, window: int) -> float:
    """Return the longest interval, in seconds, between polls of a feed with *window* items in which none is lost.

    >>> round(safe_s(ArrivalRate(30, 3600), 10))  # 24 items per hour, the last 10 are shown
    181
    """
    root = (math.sqrt(Z_BOUND**2 + 4.0 * max(1, window)) - Z_BOUND) / 2  # mean + 3 standard deviations = window
    return root * root / (BURST * rate.upper_per_s(Z_BOUND))


class PollPlan:
    """Distributes *polls_per_s* > 0 polls per second among feeds: items are found soon, and none is lost or late.

    Each feed is polled at least once in `PollLimits.slowest_s`, and before all items that it shows are replaced; the
    rest of the budget goes where it shortens delays most.
    """

    def __init__(self, polls_per_s: float, limits: PollLimits | None = None) -> None:
        self._budget = self._total = polls_per_s
        self._limits = limits or PollLimits()
        self._delays: dict[int, float] = {}
        self._rows: dict[int, int] = {}
        self._feeds, self._hosts = array("q"), array("q")
        self._polled_at, self._windows = array("d"), array("i")
        self._items, self._seconds = array("f"), array("f")
        self._rates, self._lowest, self._visits = array("f"), array("f"), array("f")  # per s
        self._columns = (
            self._feeds, self._hosts, self._polled_at, self._windows,
            self._items, self._seconds, self._rates, self._lowest, self._visits,
        )  # fmt: skip
        self._first_at = NEVER  # the latest first poll
        self._price, self._share, self._window_share = math.inf, 1.0, 1.0
        self._needed = 0.0  # polls per s
        self._host_prices: dict[int, float] = {}
        self._host_shares: dict[int, float] = {}
        self._drift, self._polls = math.inf, math.inf  # since the prices were computed; they never were

    def __len__(self) -> int:
        return len(self._rows)

    def set_share(self, share: float) -> None:
        """Distribute only a *share* in (0, 1] of the polls per second; a change of a few percent has no effect."""
        budget = self._total * share
        if abs(budget - self._budget) > MAX_DRIFT * self._budget or (share == 1.0) != (self._budget == self._total):
            self._budget, self._drift = budget, math.inf

    def set_delay(self, host: int, delay_s: float) -> None:
        """Set the delay between two requests to *host*, in seconds; polls may use `HOST_SHARE` of the requests."""
        self._delays[host] = delay_s
        self._drift = math.inf

    def add(self, feed: int, host: int, now: float, state: PollState | None = None) -> float:
        """Add *feed* of *host* and return its first due time; the first polls of new feeds are spread over time.

        With the *state* of an earlier run, the result is the time by which the feed must be polled so that no item is
        lost; a caller that stored the due time uses that instead. Raises `ValueError` if *feed* was added before.
        """
        if feed in self._rows:
            raise ValueError(f"feed {feed} was added before")
        state = state or PollState()
        row = self._rows[feed] = len(self._rows)
        for column in self._columns:
            column.append(0)
        self._feeds[row], self._hosts[row] = feed, host
        self._learn(row, state)
        self._drift = math.inf
        if state.polled_at > NEVER:
            return state.polled_at + 1.0 / self._lowest[row]
        self._first_at = max(now, self._first_at + 1.0 / self._budget)
        return self._first_at

    def remove(self, feed: int) -> None:
        """Remove *feed*, whose share goes to the others; raise `KeyError` if it is unknown."""
        row, last = self._rows.pop(feed), len(self._rows)
        if row != last:
            self._rows[self._feeds[last]] = row
        for column in self._columns:
            column[row] = column[last]  # type: ignore[assignment]
            column.pop()
        self._drift = math.inf

    def state(self, feed: int) -> PollState:
        """Return the state of *feed* to store."""
        row = self._rows[feed]
        rate = ArrivalRate(self._items[row], self._seconds[row])
        return PollState(self._polled_at[row], self._windows[row], rate)

    def record_poll(self, feed: int, now: float, new_items: int, shown: int, span_s: float | None = None) -> float:
        """Record a poll of *feed* with *shown* items, *new_items* of them new; return the next due time.

        *span_s* is the age of the oldest item in seconds, if the items are dated. It determines the rate at the first
        poll, and if all items are new.
        """
        row, before = self._rows[feed], self.state(feed)
        is_first = before.polled_at == NEVER
        is_full = 0 < shown <= new_items
        rate, elapsed_s = before.rate, now - before.polled_at
        if (is_first or is_full) and span_s is not None and shown:
            rate = rate.after(shown, span_s if is_first else min(span_s, elapsed_s))
        elif not is_first:
            rate = rate.after(new_items, elapsed_s, is_full=is_full)
        self._learn(row, PollState(now, shown or before.window, rate))
        self._polls += 1
        if self._drift > MAX_DRIFT * self._budget and self._polls * CYCLE >= len(self._rows):
            self._share_out()
        return now + self._interval_s(row, now)

    def record_failure(self, feed: int, now: float, attempts: int) -> float:
        """Return the time of the next attempt for *feed* after *attempts* >= 1 consecutive failures.

        The wait begins with `shortest_s` and doubles. Until two deadlines after the last success, it is at most the
        usual interval and 1/24 of the deadline, because items published before the failure may still be saved; later,
        it is at most half of the deadline.
        """
        row, limits = self._rows[feed], self._limits
        wait_s = limits.shortest_s * 2.0 ** min(attempts - 1, 30)
        if now - self._polled_at[row] < 2 * limits.deadline_s:
            wait_s = min(wait_s, limits.deadline_s / 24, self._interval_s(row, now))
        return now + max(limits.shortest_s, min(wait_s, limits.deadline_s / 2))

    @property
    def warning(self) -> str:
        """One or two sentences, with remedies, if the budget is too small or delays are too long; otherwise empty."""
        sentences = []
        if min(self._window_share, self._share) < 1.0:
            sentences.append(
                f"{len(self):,} feeds need {self._needed:.3g} polls per second so that no item is late or lost"
                f"{self._remedy()}."
            )
        if self._host_shares:
            share = min(self._host_shares.values())
            sentences.append(
                f"Hosts whose delays are too long for the polls that their feeds need: {len(self._host_shares):,} (at "
                f"worst, {share:.0%} of the polls are possible); shorten their delays, or remove feeds."
            )
        return " ".join(sentences)

    def _remedy(self) -> str:
        if self._budget == self._total:
            return f"; increase FEED_POLLS_PER_SECOND={self._total:g} to that value"
        needed = self._needed * self._total / self._budget
        return (
            f", of {self._budget:.3g} for this worker; increase FEED_POLLS_PER_SECOND={self._total:g} to {needed:.3g}"
        )

    def _learn(self, row: int, state: PollState) -> None:
        """Store the state of a feed and the values derived from it."""
        self._polled_at[row], self._windows[row] = state.polled_at, state.window
        self._items[row], self._seconds[row] = state.rate
        slowest_s, shortest_s = self._limits.slowest_s, self._limits.shortest_s
        safe = slowest_s if state.polled_at == NEVER else safe_s(state.rate, state.window)
        self._rates[row] = state.rate.per_s
        self._lowest[row] = 1.0 / max(shortest_s, min(slowest_s, safe))
        self._drift += abs(self._visits_per_s(row) - self._visits[row])
        self._visits[row] = self._visits_per_s(row)

    def _visits_per_s(self, row: int) -> float:
        """Return the polls per second of a feed at the current prices."""
        host = self._hosts[row]
        price = max(self._price, self._host_prices.get(host, 0.0))
        in_time = 1.0 / self._limits.slowest_s
        lowest = in_time + (self._lowest[row] - in_time) * self._window_share
        lowest *= self._share * self._host_shares.get(host, 1.0)
        visits = best_visits(self._rates[row], price)
        return max(lowest, min(visits, 1.0 / self._limits.shortest_s))

    def _interval_s(self, row: int, now: float) -> float:
        """Return the interval until the next poll of a feed, shortened by up to `JITTER`."""
        jitter = JITTER * ((self._feeds[row] * GOLDEN + now * GOLDEN) % 1.0)
        return max(self._limits.shortest_s, (1.0 - jitter) / self._visits[row])

    def _share_out(self) -> None:
        """Compute the prices again."""
        numbers, hosts = np.unique(np.frombuffer(self._hosts, np.int64), return_inverse=True)
        delays = np.array([self._delays.get(int(number), 0.0) for number in numbers])
        with np.errstate(divide="ignore"):
            caps = HOST_SHARE / delays
        rates, lowest = (np.frombuffer(column, np.float32).astype(np.float64) for column in (self._rates, self._lowest))
        # Polls for the deadline come first; those that keep windows from overflowing share the rest.
        in_time, usable = 1.0 / self._limits.slowest_s, 1.0 - JITTER / 2
        budget, in_windows = self._budget * usable, np.maximum(0.0, lowest - in_time)
        self._needed = float(lowest.sum()) / usable
        spare = max(0.0, budget - in_time * len(self))
        self._window_share = min(1.0, spare / float(in_windows.sum())) if in_windows.any() else 1.0
        lowest = in_time + in_windows * self._window_share
        found = lambda_crawl(rates, budget, lowest, 1.0 / self._limits.shortest_s, hosts, caps)
        self._price, self._share = found.price, found.share
        dear, crowded = np.flatnonzero(found.host_prices), np.flatnonzero(found.host_shares < 1.0)
        self._host_prices = {int(numbers[i]): float(found.host_prices[i]) for i in dear}
        self._host_shares = {int(numbers[i]): float(found.host_shares[i]) for i in crowded}
        self._visits[:] = array("f", found.rates)
        self._drift, self._polls = 0.0, 0.0
