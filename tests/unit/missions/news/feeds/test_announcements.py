"""What feeds announce: how long that is remembered, and which pages are read again for it."""

import pytest

from crawlers.frontier.values import Lease, PreviousVisit
from crawlers.items import State, Target
from crawlers.missions.news.feeds import announcements as announcements_module
from crawlers.missions.news.feeds.announcements import Announcements, StoredItems, UnreadArticle
from crawlers.missions.news.news_items import ARTICLE, PAGE, Announced
from crawlers.missions.news.plan.news_scores import BEFORE_ARTICLES, FIT, FRESH, QueueSlot
from crawlers.missions.news.plan.poll_plan import PollLimits
from crawlers.missions.news.plan.polls import Polls
from crawlers.missions.news.stored.news_tables import PollRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.keys import url_key
from tests.support.missions.news.news_store import SITE, NewsStore
from tests.support.stored_rows import NothingPending

NOW = 1e9
FORMER = PreviousVisit({}, int(State.DONE), 200, None, NOW - 60.0, None, None)


class Recorder:
    """A frontier that records what is to be fetched again."""

    def __init__(self):
        self.places = {}
        self.again = []
        self.scoring = self

    def queued(self, page_id, slot):
        self.places[page_id] = slot

    def hint(self, page_id):
        return self.places.get(page_id)

    def fetch_again(self, site, pages, now):
        self.again.append((site, list(pages), now))

    def submit(self, changes, now):
        self.again.append(list(changes[PollRow]))


@pytest.fixture
def store(sqlite):
    return NewsStore(sqlite)


@pytest.fixture
def frontier():
    return Recorder()


@pytest.fixture
def commits():
    return NothingPending()


@pytest.fixture
def announcements(store, frontier, commits):
    polls = Polls(1.0, PollLimits(60.0, 3600.0, 3600.0), most_pages=2)
    return Announcements(store.database, store.id, commits, frontier, polls)


def lease(path="/rss", *, id=7, queue=0, is_revisit=False):
    return Lease(id, 1, key(path), SITE + path, 1, 0, 0, None, NOW, queue, FORMER if is_revisit else None)


def key(path, site=SITE):
    return url_key(site + path)


def item(path, site=SITE):
    return Announced(Target(site + path, site + path, key(path, site), site), NOW, path)


def numbered(count):
    """Items whose keys are 0, 1, 2 …, for tests that need many."""
    return [Announced(Target("", "", number, SITE), None, "") for number in range(count)]


@pytest.mark.parametrize(
    ("queue", "place", "led_to"),
    [(FRESH, QueueSlot(FRESH, NOW), True), (FRESH, BEFORE_ARTICLES, False), (FIT, QueueSlot(FIT, 1.0), False)],
)
def test_page_that_waits_fresh_was_led_to_unless_it_may_be_a_feed(announcements, frontier, queue, place, led_to):
    frontier.places[7] = place
    assert announcements.led_to(lease(queue=queue)) == led_to


def test_the_latest_announcements_are_remembered(announcements, monkeypatch):
    monkeypatch.setattr(announcements_module, "MAX_REMEMBERED", 100)
    items = numbered(100)
    announcements.look_up(None, items)
    assert 0 in announcements
    announcements.look_up(None, items[:1])  # once more: it is the latest
    announcements.look_up(None, [item("/a1")])
    assert (0 in announcements, 1 in announcements, 2 in announcements) == (True, False, True)


def test_page_that_was_read_before_is_looked_for_when_it_is_committed(announcements, frontier, store, commits):
    here = store.page("/a1", NOW - 9.0)
    commits.submitted = 5
    query = announcements.look_up(None, [item("/a1")])
    assert key("/a1") in announcements, "pages that are read from now on know it"
    commits.submitted = 7
    announcements.read_again(query(), NOW)
    assert frontier.again == [(SITE, [(here, None, NOW - 9.0)], NOW)]
    assert commits.waited == [5]


def test_polled_page_that_is_announced_is_fetched_once_more_and_polled_no_more(announcements, frontier, store):
    here = store.poll("/a1", PAGE, NOW - 9.0)
    announcements._polls.record_poll(lease("/a1", id=here), PAGE, NOW - 9.0, ChangeSet(), new_items=0, shown=9)
    announcements.read_again(announcements.look_up(None, [item("/a1")])(), NOW)
    ((_, [(page_id, *_)], _), [row]) = frontier.again  # in this order: a kill in between loses no article
    assert (row.page_id, row.kind, page_id) == (here, ARTICLE, here)
    assert announcements._polls.kind(here) == ""


def test_target_of_an_announced_redirect_that_still_waits_is_stored_as_announced(announcements, frontier):
    waiting = UnreadArticle(SITE, key("/a1"), 7, None, None, waits=True)
    announcements.read_again(StoredItems(unread=[waiting]), NOW)
    assert frontier.places == {7: QueueSlot(FRESH, NOW)}
    assert frontier.again == []
    assert key("/a1") in announcements
