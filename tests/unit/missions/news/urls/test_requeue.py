"""What is learnt later of pages that wait: they take their places anew, some at a time."""

import asyncio

import pytest

from crawlers.errors import StoreError
from crawlers.frontier.values import Candidate, Decision
from crawlers.items import OTHER, Page, State
from crawlers.missions.news.plan.news_scores import ARCHIVE, BEFORE_ARTICLES, FIT, FRESH, QueueSlot, by_fit
from crawlers.missions.news.urls import requeue as requeue_module
from crawlers.missions.news.urls.requeue import BEFORE_ALL, QueuedSite, Requeue
from crawlers.store.schema.tables import SiteRules
from crawlers.store.sites.site_opening import SiteRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.resolution import resolve
from tests.support.frontier_engine import Engine
from tests.support.missions.news.news_run import at_once
from tests.support.stored_rows import NothingPending

NAME, NOW = "http://one.test", 1e9
LESS = QueueSlot(OTHER, 0.0)


class Rules:
    """A rulebook: articles of a site are all URLs with its *word*."""

    def __init__(self):
        self.word = "/old"
        self.calls = 0

    def slot(self, site, url):
        self.calls += 1
        return QueueSlot(FIT, 1.0) if self.word in url else LESS

    def fingerprint(self, site):
        return self.word


@pytest.fixture
def frontier(database):
    one = Engine(database).frontier(by_fit(explore=0.0, archive=0.0))
    one.open_site(SiteRow(1, NAME, 9, None, 0.0), NOW)
    return one


@pytest.fixture
def rules():
    return Rules()


@pytest.fixture
def requeue(rules, frontier):
    """One of a site of which no page waits yet."""
    one = requeue_of(rules, frontier)
    one.add_site(1, NAME)
    return one


def requeue_of(rules, frontier):
    """Return one that never judges pages again, as long as no rules are learnt."""
    return Requeue(rules, frontier, NothingPending(7), at_once)


def add(frontier, *paths, slot=LESS, site_id=1, name=NAME):
    frontier.add([Candidate(site_id, resolve(name, path), hint=slot) for path in paths], NOW)
    frontier.store.flush()


def queues(frontier, *pages):
    places = [frontier.hint(page) for page in pages]
    return [place.queue for place in places if place is not None]


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(requeue_module, "BATCH_PAGES", 2)


def test_fresh_pages_late_sitemaps_and_pages_that_are_over_keep_their_places(frontier, rules):
    add(frontier, "/old1", slot=QueueSlot(FRESH, 7.0))
    add(frontier, "/old2.xml", slot=QueueSlot(ARCHIVE, BEFORE_ARTICLES.value))
    add(frontier, "/old3", slot=QueueSlot(FRESH, NOW))
    (lease,) = frontier.lease(NOW, 1)
    frontier.acknowledge(lease, Decision(Page(lease.id, lease.url, 0, State.DONE, 200)), NOW)
    requeue_of(rules, frontier)._queue(NAME, frontier.store.waiting(1, BEFORE_ALL, 9))
    assert frontier.hint(1) == QueueSlot(FRESH, 7.0)
    assert frontier.hint(2) == QueueSlot(ARCHIVE, BEFORE_ARTICLES.value)
    assert queues(frontier, lease.id) == [-1]


def test_order_without_places_has_nothing_to_correct(database, rules):
    frontier = Engine(database).frontier()
    assert frontier.hint(1) is None
    requeue_of(rules, frontier)._queue(NAME, [])
    assert not rules.calls
    frontier.fetch_again(NAME, [(1, None, None)], NOW)


def finished(requeue, frontier, most=99):
    """Requeue pages; return the rows of their sites that are to be written."""
    for _ in range(most):
        asyncio.run(requeue.step(NOW))
    rows = [row for changes in frontier.store._writer._pending for row in changes[SiteRules]]
    frontier.store.flush()
    return rows


@pytest.mark.usefixtures("small_batches")
def test_rules_that_change_while_the_crawl_runs_place_sites_of_the_domain_and_below(frontier, rules, requeue):
    frontier.open_site(SiteRow(2, "http://sport.one.test", 9, None, 0.0), NOW)
    frontier.open_site(SiteRow(3, "http://another-one.test", 9, None, 0.0), NOW)
    names = {1: NAME, 2: "http://sport.one.test", 3: "http://another-one.test"}
    for site_id, name in names.items():
        requeue.add_site(site_id, name)
        add(frontier, *(f"/new{n}" for n in range(3)), site_id=site_id, name=name)
    assert finished(requeue, frontier) == []
    rules.word, changes = "/new", ChangeSet()
    requeue.changed("one.test", changes)
    assert changes[SiteRules] == [(1, None), (2, None)]
    assert finished(requeue, frontier) == [(1, "/new"), (2, "/new")]
    assert queues(frontier, *range(1, 10)) == [FIT] * 6 + [OTHER] * 3


@pytest.mark.usefixtures("small_batches")
def test_run_goes_on_with_what_the_last_one_left_and_with_what_was_changed_by_hand(frontier, rules):
    add(frontier, *(f"/new{n}" for n in range(5)))
    first = requeue_of(rules, frontier)
    assert first.recall([QueuedSite(1, NAME, "/old", has_pages=True)])[SiteRules] == []
    rules.word, changes = "/new", ChangeSet()
    first.changed("one.test", changes)
    assert finished(first, frontier, 1) == [], "killed here"
    second = requeue_of(rules, frontier)
    assert second.recall([QueuedSite(1, NAME, None, has_pages=True)])[SiteRules] == [(1, None)]
    assert finished(second, frontier) == [(1, "/new")]
    assert queues(frontier, 1, 2, 3, 4, 5) == [FIT] * 5


@pytest.mark.usefixtures("small_batches")
def test_only_the_first_look_up_of_a_site_waits_for_commits(frontier, rules, requeue):
    add(frontier, *(f"/new{n}" for n in range(5)))
    assert finished(requeue, frontier) == [], "nothing changed"
    rules.word = "/new"
    requeue.changed("one.test", ChangeSet())
    assert finished(requeue, frontier, 1) == []
    assert queues(frontier, 1, 2, 3) == [FIT, FIT, OTHER]
    assert finished(requeue, frontier) == [(1, "/new")]
    assert requeue._commits.waited == [7, 0, 0]


class Readers:
    """A thread that answers when it is told to, or fails."""

    def __init__(self):
        self.queries = []

    async def __call__(self, query):
        self.queries.append(result := asyncio.get_running_loop().create_future())
        return await result or query()


def test_pages_that_were_looked_up_before_the_rules_changed_once_more_are_looked_up_again(frontier, rules):
    readers = Readers()
    requeue = Requeue(rules, frontier, NothingPending(7), readers)
    requeue.add_site(1, NAME)
    requeue.changed("one.test", ChangeSet())

    async def scenario():
        early = asyncio.create_task(requeue.step(NOW))
        await asyncio.sleep(0)
        await requeue.step(NOW)
        assert len(readers.queries) == 1, "one look-up at a time"
        requeue.changed("one.test", ChangeSet())
        readers.queries[0].set_result([])
        await early
        assert requeue.has_more
        failing = asyncio.create_task(requeue.step(NOW))
        await asyncio.sleep(0)
        readers.queries[1].set_exception(StoreError("no"))
        with pytest.raises(StoreError):
            await failing
        again = asyncio.create_task(requeue.step(NOW))
        await asyncio.sleep(0)
        readers.queries[2].set_result([])
        await again

    asyncio.run(scenario())
    assert not requeue.has_more
