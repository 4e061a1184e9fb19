"""A site's queue: its groups, the ready ones, and pages that must wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.frontier.frontier_store import QueueEntry
from crawlers.frontier.queues.heap_queue import HeapQueue
from crawlers.frontier.site_queue import SiteQueue
from crawlers.frontier.url_cache import MAX_GROUP
from crawlers.frontier.values import SiteState
from tests.support.memory_frontier import MemoryFrontierStore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.algorithms.ranking.page_orders import GroupRule


def entry(priority: float, page_id: int, group: int = 0) -> QueueEntry:
    return QueueEntry(priority, page_id, page_id, f"http://a.test/{page_id}", 0, 0, 0, None, group)


def queue(rule: GroupRule | None = None, names: str = "", waiting: Iterable[int] = ()) -> SiteQueue:
    def bounded(site_id: int, group: int, spill_limit: tuple[float, int]) -> HeapQueue:
        return HeapQueue(site_id, group, MemoryFrontierStore(), set(), spill_limit)

    return SiteQueue(SiteState(1, "http://a.test", 1, 0.0), {}, bounded, rule, names, waiting)


class Least:
    """Chooses the group whose first page is the oldest, and records the calls."""

    def __init__(self) -> None:
        self.calls: list[list[tuple[int, int]]] = []

    def choose(self, waiting: Iterable[tuple[int, int]]) -> int:
        self.calls.append(sorted(waiting))
        return min(self.calls[-1], key=lambda one: one[1])[0]

    def record_request(self, group: int) -> None: ...
    def record_reward(self, group: int, reward: float) -> None: ...
    def cancel_request(self, group: int) -> None: ...


def test_queue_of_a_resumed_site_starts_in_the_store() -> None:
    site = queue(waiting=[0])
    assert site.needs_refill == {0}
    site.push(entry(0.0, 9), 16)
    assert not site.ready, "a refill reads it from the store"
    assert not queue().needs_refill


def test_discarded_url_is_gone_and_the_others_keep_their_order() -> None:
    site = queue()
    for number in (5, 3, 1, 4, 2):
        site.push(entry(number, number), 16)
    site.discard(3, 0)
    site.discard(99, 0)
    site.discard(1, 7)
    assert [site.pop().id for _ in range(4)] == [1, 2, 4, 5]
    assert not site.ready


def test_rule_chooses_among_the_groups_that_are_ready() -> None:
    rule = Least()
    site = queue(rule)
    for number, group in ((1, 2), (2, 1), (3, 2), (4, 1)):
        site.push(entry(0.0, number, group), 16)
    assert [site.pop().id for _ in range(4)] == [1, 2, 3, 4]
    assert rule.calls == [[(1, 2), (2, 1)], [(1, 2), (2, 3)], [(1, 4), (2, 3)]], "one group leaves no choice"


def test_groups_are_numbered_in_order_of_discovery_and_the_last_share_one() -> None:
    site = queue(names="ab")
    assert [site.group(name) for name in "bca"] == [(2, False), (3, True), (1, False)]
    numbers = [site.group(f"more {n}") for n in range(2 * MAX_GROUP)]
    assert numbers[MAX_GROUP - 4] == (MAX_GROUP, True)
    assert set(numbers[MAX_GROUP - 3 :]) == {(0, False)}
    assert site.group("more 0") == (4, False)


def test_empty_group_needs_a_refill_only_when_the_store_may_have_more() -> None:
    site = queue(Least())
    for number in range(1, 8):
        site.push(entry(0.0, number, 1), 2)
    site.push(entry(0.0, 20, 2), 2)
    for _ in range(2):
        site.pop()
    assert (site.needs_refill, site.ready) == ({1}, {2})
    site.pop()
    assert (site.needs_refill, site.ready) == ({1}, set())


def test_farther_priorities_wait_for_all_responses_of_nearer_ones() -> None:
    site = queue()
    assert not site.must_wait(1.0)
    for priority in (1.0, 1.0, 2.0):
        site.add_outstanding(priority)
    assert (site.must_wait(1.0), site.must_wait(1.5)) == (False, True)
    site.remove_outstanding(1.0)
    assert site.must_wait(1.5)
    site.remove_outstanding(1.0)
    assert (site.must_wait(1.5), site.must_wait(3.0)) == (False, True)
