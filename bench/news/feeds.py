"""Polls simulated feeds by plan and by turns with the same requests: the tables of docs/measurements/freshness.md.

    python -m bench.news.feeds [--feeds 5000] [--days 5] [--seeds 1,2,3] [--polls 0.4,0.5,0.7,1,2] [--wake-hours 24]

*--polls*: polls per s that the requests allow beside one for each item. The clock is simulated, `PollPlan` is the one
that crawls. A table has the sums over the seeds; the first day, when rates are learnt, counts by itself.
"""

from __future__ import annotations

import argparse
import random
import time
import tracemalloc
from typing import TYPE_CHECKING

import numpy as np

from bench.simulators.feed_simulation import (
    DAY,
    HOUR,
    Constant,
    Feed,
    Outcome,
    Planned,
    poll_feeds,
    simulated_feeds,
)
from crawlers.algorithms.news.poll_plan import PollPlan
from crawlers.algorithms.news.revisit_rates import harmonic, lambda_crawl

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.simulators.feed_simulation import Poller

DEADLINE_S = 12 * HOUR
SLACK = 0.95  # of the polls that the requests allow are planned: a queue that is always full makes all polls late
HEAD = (
    f"{'requests/s':>10} {'rule':32} {'items':>8} {'in time %':>9} {'lost':>6} {'late':>5} {'cut off':>7} "
    f"{'out of reach':>12} {'median':>7} {'90 %':>6} {'99 %':>6} {'worst':>6} {'used %':>6}"
)


def plan(feeds: list[Feed], polls_per_s: float) -> Poller:
    """What the crawler uses."""
    found = PollPlan(SLACK * polls_per_s)
    for feed in feeds:
        found.set_delay(feed.host, feed.delay_s)
    return Planned(found)


def round_robin(feeds: list[Feed], polls_per_s: float) -> Poller:
    """All feeds by turns, with whatever the items leave over: the shortest constant interval there can be."""
    return Constant([1.0] * len(feeds))


def binary(weight: np.ndarray, rate: np.ndarray, price: np.ndarray) -> np.ndarray:
    """`harmonic` where only "as it is now, or not" counts (Azar et al.): none for pages that change too fast."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.fmax(0.0, np.sqrt(weight * rate / price) - rate)


def known(demand: Callable[..., np.ndarray]) -> Callable[[list[Feed], float], Poller]:
    """A rule that is told the true mean rates and knows nothing of windows, deadlines and hosts."""

    def rule(feeds: list[Feed], polls_per_s: float) -> Poller:
        rates = [feed.per_s for feed in feeds]
        visits = lambda_crawl(np.ones(len(feeds)), rates, SLACK * polls_per_s, demand=demand).rates
        with np.errstate(divide="ignore"):
            return Constant((1.0 / visits).tolist())

    return rule


def items_per_s(feeds: list[Feed], days: float) -> float:
    """Items that are published in the simulated time."""
    return sum(at > 0 for feed in feeds for at in feed.published) / (days * DAY)


def row(name: str, outcomes: list[Outcome], requests_per_s: float, days: float) -> str:
    """One line of a table."""
    delays = np.sort(np.concatenate([outcome.delays_s for outcome in outcomes])) / 60
    names = ("late", "lost", "cut_off", "out_of_reach", "requests")
    late, lost, cut_off, out_of_reach, requests = (sum(getattr(one, name) for one in outcomes) for name in names)
    items = delays.size + lost
    at = [delays[min(delays.size - 1, int(share * delays.size))] for share in (0.5, 0.9, 0.99, 1.0)]
    used = requests / (requests_per_s * days * DAY * len(outcomes))
    return (
        f"{requests_per_s:10.2f} {name:32} {items:8,} {100 * (delays.size - late) / items:9.3f} {lost:6,} {late:5,} "
        f"{cut_off:7,} {out_of_reach:12,} " + " ".join(f"{value:6.1f}" for value in at) + f" {100 * used:6.1f}"
    )


def compare(given: argparse.Namespace, rules: dict[str, Callable[..., Poller]], budgets: list[float]) -> None:
    """Print a table."""
    print(HEAD)
    webs = [
        simulated_feeds(given.feeds, given.days, random.Random(seed), given.wake_hours * HOUR) for seed in given.seeds
    ]
    for polls_per_s in budgets:
        for name, rule in rules.items():
            later, first_day, warning = [], [], ""
            for feeds in webs:
                poller = rule(feeds, polls_per_s)
                both = poll_feeds(
                    feeds,
                    poller,
                    polls_per_s + items_per_s(feeds, given.days),
                    given.days,
                    deadline_s=DEADLINE_S,
                    count_from_s=(0.0, DAY),
                )
                first_day.append(both[0])
                later.append(both[1])
                warning = poller.plan.warning if isinstance(poller, Planned) else ""
            requests_per_s = polls_per_s + sum(items_per_s(feeds, given.days) for feeds in webs) / len(webs)
            print(row(name, later, requests_per_s, given.days), flush=True)
            print(row("    its first day", first_day, requests_per_s, given.days), warning, flush=True)


def cost(number: int) -> None:
    """Print what the plan itself takes of time and memory."""
    rng = random.Random(1)
    tracemalloc.start()
    used = PollPlan(number / 3600)
    for feed in range(number):
        used.add(feed, feed // 3, 0.0)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    start, slowest = time.perf_counter(), 0.0
    for turn in range(2 * number):
        began = time.perf_counter()
        used.ended(turn % number, 3600.0 + turn, rng.randint(0, 3), 20, 36_000.0)
        slowest = max(slowest, time.perf_counter() - began)
    each = (time.perf_counter() - start) / (2 * number)
    print(
        f"{number:9,} feeds: {size / number:.0f} bytes each, {1e6 * each:.1f} us a poll, {1e3 * slowest:.0f} ms worst"
    )
    rates = np.random.default_rng(1).lognormal(-10, 1.7, number)
    start = time.perf_counter()
    hosts = np.arange(number) // 3
    lambda_crawl(np.ones(number), rates, number / 3600, lowest=1 / DAY, highest=1 / 60, hosts=hosts,
                 host_caps=np.full(number // 3 + 1, 5e-4))  # fmt: skip
    print(f"{number:9,} feeds: shared out anew with host caps in {1e3 * (time.perf_counter() - start):.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feeds", type=int, default=5000)
    parser.add_argument("--days", type=float, default=5.0)
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[1, 2, 3])
    parser.add_argument(
        "--polls", type=lambda text: [float(rate) for rate in text.split(",")], default=[0.4, 0.5, 0.7, 1, 2]
    )
    parser.add_argument("--wake-hours", type=float, default=24.0, help="from the first item to the usual rate")
    given = parser.parse_args()
    compare(given, {"round robin": round_robin, "PollPlan": plan}, given.polls)
    print("\nwith the true rates, without bounds")
    compare(given, {"LambdaCrawl": known(harmonic), "Azar et al.": known(binary)}, given.polls[1:4:2])
    print()
    for number in (5000, 100_000):
        cost(number)


if __name__ == "__main__":
    main()
