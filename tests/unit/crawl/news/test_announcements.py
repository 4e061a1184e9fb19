"""What feeds announce: how long that is remembered, and which pages are read again for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlers.algorithms.ranking.news_scores import BEFORE_ARTICLES, FIT, FRESH
from crawlers.algorithms.urls.keys import url_key
from crawlers.crawl.news.announcements import MOST_REMEMBERED, MOST_UNSURE, Announcements
from crawlers.frontier.frontier_store import PreviousVisit
from crawlers.frontier.protocols import Lease
from crawlers.items import Announced, QueueSlot, State, Target
from crawlers.storage.schema.news_tables import FeedItemRow
from tests.support.news_store import OTHER, SITE, NewsStore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.frontier.protocols import SeenPage
    from crawlers.storage.database import Database

NOW = 1e9
FORMER = PreviousVisit({}, int(State.DONE), 200, None, NOW - 60.0, None, None)


class Recorder:
    """A frontier that notes what is to be fetched again, and commits that are waited for."""

    def __init__(self) -> None:
        self.places: dict[int, QueueSlot] = {}
        self.again: list[tuple[str, list[SeenPage], float]] = []
        self.flushes = 0

    def slot(self, page_id: int) -> QueueSlot | None:
        return self.places.get(page_id)

    def fetch_again(self, site: str, pages: Iterable[SeenPage], now: float) -> None:
        self.again.append((site, list(pages), now))

    def flush(self) -> None:
        self.flushes += 1


@pytest.fixture
def store(sqlite: Database) -> NewsStore:
    return NewsStore(sqlite)


@pytest.fixture
def frontier() -> Recorder:
    return Recorder()


@pytest.fixture
def announcements(store: NewsStore, frontier: Recorder) -> Announcements:
    return Announcements(store.database, store.id, frontier.flush, frontier)  # type: ignore[arg-type]


def lease(path: str = "/rss", *, id: int = 7, group: int = 0, is_revisit: bool = False) -> Lease:
    return Lease(id, 1, key(path), SITE + path, 1, 0, 0, None, NOW, group, FORMER if is_revisit else None)


def key(path: str, site: str = SITE) -> int:
    return url_key(site + path)


def item(path: str, site: str = SITE) -> Announced:
    return Announced(Target(site + path, site + path, key(path, site), site), NOW, path)


def numbered(count: int) -> list[Announced]:
    """Items whose keys are 0, 1, 2 …, for tests that need many."""
    return [Announced(Target("", "", number, SITE), None, "") for number in range(count)]


def test_first_poll_of_a_feed_announces_all_its_items(announcements: Announcements, store: NewsStore) -> None:
    store.write(FeedItemRow(7, key("/a1"), None, NOW, ""))
    assert announcements.new_of(lease(), [item("/a1"), item("/a2")]) == [item("/a1"), item("/a2")]


def test_later_poll_announces_what_the_feed_did_not_before(announcements: Announcements, store: NewsStore) -> None:
    store.write(FeedItemRow(7, key("/a1"), None, NOW, ""), FeedItemRow(8, key("/a2"), None, NOW, ""))
    shown = [item("/a1"), item("/a2")]
    assert announcements.new_of(lease(is_revisit=True), shown) == [item("/a2")]
    assert key("/a1") in announcements, "although it is not new"


def test_announced_are_the_items_and_nothing_else(announcements: Announcements) -> None:
    announcements.new_of(lease(), [item("/a1")])
    assert announcements.led_to(lease("/a1"))
    assert not announcements.led_to(lease("/a2"))
    assert key("/a2") not in announcements


@pytest.mark.parametrize(
    ("group", "place", "led_to"),
    [(FRESH, QueueSlot(FRESH, NOW), True), (FRESH, BEFORE_ARTICLES, False), (FIT, QueueSlot(FIT, 1.0), False)],
)
def test_page_that_waits_fresh_was_led_to_unless_it_may_be_a_feed(
    announcements: Announcements, frontier: Recorder, group: int, place: QueueSlot, led_to: bool
) -> None:
    frontier.places[7] = place
    assert announcements.led_to(lease(group=group)) == led_to


def test_the_latest_announcements_are_remembered(announcements: Announcements) -> None:
    items = numbered(MOST_REMEMBERED)
    announcements.new_of(lease(), items)
    assert 0 in announcements
    announcements.new_of(lease(), items[:1])  # once more: it is the latest
    announcements.new_of(lease(), [item("/a1")])
    assert (0 in announcements, 1 in announcements, 2 in announcements) == (True, False, True)


def test_page_that_was_read_in_vain_is_fetched_again_when_it_is_announced(
    announcements: Announcements, frontier: Recorder, store: NewsStore
) -> None:
    here = store.page("/a1", NOW - 9.0, reason="too little evidence for an article")
    there = store.page("/a1", NOW - 8.0, site=OTHER)
    store.document("/a2", NOW)
    announcements.read_again([item("/a1"), item("/a2"), item("/a1", OTHER), item("/a3")], NOW)
    assert frontier.again == [
        (SITE, [(here, "too little evidence for an article", NOW - 9.0)], NOW),
        (OTHER, [(there, None, NOW - 8.0)], NOW),
    ]


def test_nothing_is_fetched_again_when_no_announced_page_was_read(
    announcements: Announcements, frontier: Recorder
) -> None:
    announcements.read_again([item("/a1")], NOW)
    assert (frontier.again, frontier.flushes) == ([], 0)


def test_commit_is_awaited_only_if_an_announced_page_was_read_since_the_last_one(
    announcements: Announcements, frontier: Recorder
) -> None:
    announcements.was_read(key("/a1"))
    announcements.read_again([item("/a2"), item("/a2", OTHER)], NOW)
    assert frontier.flushes == 0
    announcements.read_again([item("/a2", OTHER), item("/a1"), item("/a3")], NOW)
    assert frontier.flushes == 1
    announcements.read_again([item("/a1")], NOW)
    assert frontier.flushes == 1


def test_so_many_pages_may_wait_for_their_commit(announcements: Announcements, frontier: Recorder) -> None:
    for number in range(MOST_UNSURE):
        announcements.was_read(number)
    assert frontier.flushes == 0
    announcements.was_read(key("/a1"))
    assert frontier.flushes == 1
    announcements.read_again(numbered(MOST_UNSURE), NOW)
    assert frontier.flushes == 1, "they are committed"
    announcements.read_again([item("/a1")], NOW)
    assert frontier.flushes == 2, "and the last one may not be"
