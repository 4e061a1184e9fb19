"""A site's queue: the nearest in memory, the rest behind the horizon."""

from __future__ import annotations

import heapq

from hypothesis import given
from hypothesis import strategies as st

from crawlers.frontier.base import SiteState
from crawlers.frontier.journal import Entry
from crawlers.frontier.site_queue import SiteQueue
from crawlers.items import State


def entry(priority: float, page_id: int) -> Entry:
    return Entry(priority, page_id, page_id, f"http://a.test/{page_id}", 0, 0, 0, None)


def queue(**counts: int) -> SiteQueue:
    return SiteQueue(SiteState(1, 1, 0.0), {State[name]: number for name, number in counts.items()})


@given(st.lists(st.floats(0, 9), max_size=60), st.integers(1, 5), st.integers(1, 5))
def test_everything_comes_out_in_order_and_the_heap_stays_small(priorities: list[float], head: int, limit: int) -> None:
    site = queue()
    entries = [entry(priority, number) for number, priority in enumerate(priorities, 1)]
    stored = sorted(entries)
    for one in entries:
        site.push(one, head)
        assert len(site.heap) <= 2 * head
    out = []
    while site.heap or site.has_more:
        if not site.heap:
            site.refill([e for e in stored if (e.priority, e.id) > site.horizon][:limit], limit, set())
        if site.heap:
            out.append(heapq.heappop(site.heap))
    assert out == stored


def test_queue_of_a_resumed_site_begins_in_the_journal() -> None:
    site = queue(WAITING=3, DONE=5)
    assert (site.pending, site.has_more) == (3, True)
    site.push(entry(0.0, 9), 16)
    assert site.heap == [], "the journal gives it in its turn"
    assert not queue(DONE=5).has_more


def test_held_urls_are_not_taken_from_the_journal_again() -> None:
    site = queue(WAITING=3)
    site.refill([entry(0.0, 1), entry(0.0, 2), entry(0.0, 3)], 3, {1, 3})
    assert [e.id for e in site.heap] == [2]
    assert (site.horizon, site.has_more) == ((0.0, 3), True)


def test_discarded_url_is_gone_and_the_others_keep_their_order() -> None:
    site = queue()
    for number in (5, 3, 1, 4, 2):
        site.push(entry(number, number), 16)
    site.discard(3)
    site.discard(99)
    assert [heapq.heappop(site.heap).id for _ in range(4)] == [1, 2, 4, 5]


def test_farther_priorities_wait_for_all_answers_of_nearer_ones() -> None:
    site = queue()
    assert not site.must_wait(1.0)
    for priority in (1.0, 1.0, 2.0):
        site.began(priority)
    assert (site.must_wait(1.0), site.must_wait(1.5)) == (False, True)
    site.ended(1.0)
    assert site.must_wait(1.5)
    site.ended(1.0)
    assert (site.must_wait(1.5), site.must_wait(3.0)) == (False, True)
