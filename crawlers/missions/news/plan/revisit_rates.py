"""Optimal revisit rates of pages under a budget: LambdaCrawl, with bounds and host caps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

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
