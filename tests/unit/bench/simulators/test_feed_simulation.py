"""The simulated crawler is polite and honest; the plan saves what polling by turns loses."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from bench.simulators.feed_simulation import (
    DAY,
    HOUR,
    RATES,
    Constant,
    Feed,
    Planned,
    poll_feeds,
    simulated_feeds,
)
from crawlers.algorithms.news.poll_plan import PollPlan

DEADLINE = 12 * HOUR


def feed(published: list[float], window: int = 10, fails: tuple[float, float] = (math.inf, math.inf)) -> Feed:
    return Feed(host=0, delay_s=1.0, window=window, per_s=1.0, published=published, is_dated=True, fails=fails)


def test_feeds_are_of_all_kinds_and_the_same_for_the_same_seed() -> None:
    feeds = simulated_feeds(2000, 2.0, random.Random(5))
    assert feeds == simulated_feeds(2000, 2.0, random.Random(5))
    assert all(RATES[0] <= one.per_s <= RATES[1] for one in feeds)
    assert all(one.published == sorted(one.published) for one in feeds)
    assert all(sum(at <= 0 for at in one.published) <= one.window for one in feeds)
    hosts = [one.host for one in feeds]
    assert 0.1 < sum(hosts.count(host) > 1 for host in hosts[:300]) / 300 < 0.5
    assert any(one.fails[0] < 2 * DAY for one in feeds)
    assert any(one.published and one.published[0] > HOUR and one.per_s > 1 / HOUR for one in feeds)


def test_a_feed_publishes_at_its_rate() -> None:
    feeds = [
        one for one in simulated_feeds(300, 10.0, random.Random(1)) if one.published and one.published[-1] > 9 * DAY
    ]
    expected = sum(one.per_s * 10 * DAY for one in feeds)
    assert sum(at > 0 for one in feeds for at in one.published) == pytest.approx(expected, rel=0.1)


def test_items_are_counted_as_stored_lost_late_cut_off_or_out_of_reach() -> None:
    failing = feed([100.0, 21_000.0], fails=(200.0, 20_000.0))
    for one, deadline_s, counts in (
        (feed([-5.0, 3600.0]), DEADLINE, (1, 0, 0, 0, 0)),  # the first one is known
        (feed([100.0, 200.0, 300.0], window=2), DEADLINE, (2, 1, 0, 0, 0)),
        (feed([100.0]), 2.0, (1, 0, 1, 0, 0)),
        (failing, 10_000.0, (2, 0, 1, 1, 0)),
        (feed([300.0], fails=(200.0, 20_000.0)), 10_000.0, (0, 0, 0, 0, 1)),
    ):
        poller = Constant([4 * HOUR])
        (outcome,) = poll_feeds([one], poller, 1.0, 2.0, deadline_s=deadline_s, count_from_s=[0.0])
        found = (len(outcome.delays_s), outcome.lost, outcome.late, outcome.cut_off, outcome.out_of_reach)
        assert found == counts


def test_hosts_are_asked_after_their_delay_only() -> None:
    polled: list[float] = []

    class Watch(Constant):
        def ended(self, feed: int, now: float, new_items: int, shown: int, span_s: float | None) -> float:
            polled.append(now)
            return now + 1.0

    feeds = [Feed(0, 10.0, 10, 1.0, [], True) for _ in range(3)]
    poll_feeds(feeds, Watch([1.0] * 3), 100.0, 0.01, deadline_s=1.0, count_from_s=[0.0])
    assert len(polled) > 50
    assert min(later - earlier for earlier, later in pairwise(polled)) > 9.9


def test_the_plan_stores_all_in_time_with_the_requests_with_which_turns_lose_items() -> None:
    feeds = simulated_feeds(300, 3.0, random.Random(1))
    per_s = sum(at > 0 for one in feeds for at in one.published) / (3 * DAY)
    plan = PollPlan(0.038)
    for one in feeds:
        plan.set_delay(one.host, one.delay_s)
    by_plan, by_turns = (
        poll_feeds(feeds, poller, 0.04 + per_s, 3.0, deadline_s=DEADLINE, count_from_s=[DAY])[0]
        for poller in (Planned(plan), Constant([1.0] * 300))
    )
    assert by_plan.lost + by_plan.late == by_plan.cut_off == 0
    assert by_turns.lost > 50
    assert by_plan.requests < by_turns.requests
    assert sorted(by_plan.delays_s)[len(by_plan.delays_s) // 2] < sorted(by_turns.delays_s)[len(by_turns.delays_s) // 2]
