"""Several workers of a news crawl: what is known of a source moves with it, and announcements reach its worker."""

import asyncio
from functools import partial
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine, event

from crawlers.crawl.spec import response_reader
from crawlers.items import Page, SiteLimits, State
from crawlers.missions.news import ARTICLES
from crawlers.missions.news.feeds.sources import Source, SourceLeaders
from crawlers.missions.news.news_items import FEED, Announced, News
from crawlers.missions.news.news_opening import known_feeds, open_news
from crawlers.missions.news.plan.news_scores import BEFORE_ARTICLES, FIT, FRESH
from crawlers.missions.news.stored.iterations import stored_iterations
from crawlers.missions.news.urls.rule_learner import HAND, LEARNT, UrlRule
from crawlers.missions.news.urls.stored_rules import LearntRulesRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.addresses import SiteAddresses
from crawlers.urls.scope import Scope
from tests.support.missions.news.news_run import in_process
from tests.support.opened_crawl import NOW, OpenedCrawl, quick_settings, rounds, target
from tests.support.stored_rows import read

A, B = "http://a.test", "http://b.test"
SOURCES = [Source(SiteLimits(A), feeds=(f"{A}/feed",)), Source(SiteLimits(B))]


class NewsWorker(OpenedCrawl):
    """A worker of the crawl of two sources, of which the first one has a feed."""

    def __init__(self, url, sources=SOURCES, **settings):
        scope = Scope.of_hosts([source.domain for source in sources], [source.limits.site for source in sources])
        values = quick_settings(url, **settings)
        pool = SimpleNamespace(run=in_process)
        run = partial(open_news, sources, values, pool)
        mission = {
            "sites": [source.limits for source in sources],
            "roots": tuple(known_feeds(sources)),
            "scope": scope,
            "reader": response_reader(values, SiteAddresses(), scope),
            "gives": {ARTICLES: True},
            "start_hint": BEFORE_ARTICLES,
            "leader_of": SourceLeaders(sources).of,
            "ends_early": values.getbool("NEWS_ONCE"),
        }
        super().__init__(url, run, mission, **{"ORDER": "fit", "EXPLORE_SHARE": 0, **settings})
        self.mission = self.crawl.mission

    @property
    def sites(self):
        return {row.site for row in self.crawl.sites.rows.values()}

    def due(self):
        return {lease.url: lease for lease in self.leases()}

    def read(self, lease, *links, news=None):
        """Read the page of *lease*, with links to any site."""
        site = lease.url[: len(A)]
        targets = [(target(url), 1) for url in links]
        page = Page(
            *(lease.id, lease.url, lease.level, State.DONE, 200),
            links=[one for one in targets if one[0].site == site],
            cross_site_links=[one for one in targets if one[0].site != site],
            facts=news or News(self.mission.kind(lease)),
            content_hash=f"{lease.id} {self.now}".encode(),
        )
        asyncio.run(self.mission.prepare(lease, page, self.now))
        self.crawl.recording.record(page)
        self.crawl.session.writer.flush()

    def read_all(self):
        """Read everything that is due; return the leases by URL."""
        found = {}
        while leases := self.due():
            for lease in leases.values():
                self.read(lease)
            found |= leases
        return found

    def slot(self, url):
        """Return queue and value of a page."""
        return self.rows(f"SELECT queue, value FROM news_score JOIN page ON page.id = page_id WHERE url = '{url}'")[0]


@pytest.fixture
def begun(begin):
    return partial(begin, kind=lambda url, run, mission, **settings: NewsWorker(url, **settings))


def shared(one, two):
    """Let two workers hold a source each; return that of A and that of B."""
    rounds(two, one, two)
    first, second = (one, two) if A in one.sites else (two, one)
    assert (first.sites, second.sites) == ({A}, {B})
    return first, second


def opened_with(url, number):
    """Return how many statements resume a crawl of so many sources, and how many another worker needs to open them."""
    sources = [Source(SiteLimits(f"http://s{n}.test"), feeds=(f"http://s{n}.test/feed",)) for n in range(number)]
    first = NewsWorker(url, sources)
    for lease in first.due().values():
        first.read(lease, f"{lease.url}-1", news=feed(f"{lease.url}-1") if lease.url.endswith("/feed") else None)
    first.close(reason="shutdown")
    counted = []

    def count(connection, cursor, statement, *_):
        counted.append(statement)

    event.listen(Engine, "before_cursor_execute", count)
    try:
        second = NewsWorker(url, sources)
        resumed = len(counted)
        third = NewsWorker(url, sources)
        second.close(reason="shutdown")
        counted.clear()
        third.round()
        opened = len(counted)
    finally:
        event.remove(Engine, "before_cursor_execute", count)
    assert len(third.sites) == number
    third.kill()
    return resumed, opened


def test_sources_are_opened_with_few_statements_for_all_of_them(tmp_path):
    few, many = (opened_with(f"sqlite:///{tmp_path / f'{number}.sqlite'}", number) for number in (2, 40))
    # Each source of the second crawl would need more than one further statement, if any was executed for each.
    assert max(more - less for less, more in zip(few, many, strict=True)) < 38, (few, many)


def feed(*urls):
    return News(FEED, announces=True, items=[Announced(target(url), NOW - 60.0, url) for url in urls])


def test_announced_article_of_another_source_is_queued_by_its_worker(begun):
    first, second = shared(begun(), begun())
    first.read(first.due()[f"{A}/feed"], f"{B}/story", news=feed(f"{B}/story"))
    second.round()
    assert second.slot(f"{B}/story") == (FRESH, NOW - 60.0)
    lease = second.due()[f"{B}/story"]
    assert second.mission.is_announced(lease)
    assert second.mission.is_in_feed(lease)
    assert second.rows("SELECT count(*) FROM message") == [(0,)]
    assert len(second.rows("SELECT * FROM feed_item")) == 1


def test_page_that_was_read_before_a_feed_of_another_worker_announced_it_is_read_again(begun):
    first, second = shared(begun(), begun())
    second.read(second.due()[f"{B}/"], f"{B}/story")
    assert f"{B}/story" in second.read_all()
    first.read(first.due()[f"{A}/feed"], f"{B}/story", news=feed(f"{B}/story"))
    rounds(first, second, number=1)
    again = second.due()[f"{B}/story"]
    assert again.is_revisit
    assert second.mission.is_announced(again)


def test_links_to_sources_of_others_get_the_slots_of_their_rules(begun):
    first, second = shared(begun(), begun())
    second.mission.classifier.replace("b.test", [UrlRule(r"/news/.*", 1.0, HAND)])
    first.read(first.due()[f"{A}/"], f"{B}/news/1", f"{B}/about")
    second.round()
    assert second.slot(f"{B}/news/1")[0] == FIT
    assert second.slot(f"{B}/about")[0] == 0


def test_polls_and_rules_move_with_their_source(begun):
    one = begun()
    found = one.due()
    one.read(found[f"{A}/feed"], f"{A}/1", news=feed(f"{A}/1"))
    one.read(found[f"{A}/"])
    one.read(found[f"{B}/"])
    rules = (UrlRule(r"/\d+", 1.0, LEARNT),)
    one.crawl.session.writer.submit(ChangeSet(LearntRulesRow("a.test", rules), LearntRulesRow("b.test", rules)))
    before = {row[0]: row for row in one.rows("SELECT * FROM poll ORDER BY page_id")}
    assert len(before) == 3
    two = begun()
    first, second = shared(one, two)
    came, site = (two, A) if two.sites == {A} else (two, B)
    assert came.mission.classifier.weight(site, f"{site}/7") == 1.0
    assert came.mission._polls.kind(next(iter(before))) or site == B
    first.now = second.now = NOW + 7 * 3600.0
    due = {*first.due(), *second.due()}
    assert {f"{A}/feed", f"{A}/", f"{B}/"} <= due
    polled = [page_id for one in (first, second) for page_id in before if one.mission._polls.kind(page_id)]
    assert sorted(polled) == sorted(before)


def test_downloads_of_all_workers_are_counted_in_one_iteration(begun):
    first, second = shared(begun(NEWS_ITERATION_PAGES=3), begun(NEWS_ITERATION_PAGES=3))
    found = first.due()
    first.read(found[f"{A}/feed"], *(f"{A}/{n}" for n in range(2)), news=feed(*(f"{A}/{n}" for n in range(2))))
    second.read(second.due()[f"{B}/"])
    first.read(found[f"{A}/"])
    second.crawl.session.writer.flush()
    for lease in first.due().values():
        first.read(lease)
    assert first.rows("SELECT count(*) FROM page WHERE state = 1") == [(5,)]
    found = read(stored_iterations, first.crawl.session.database, first.crawl.session.row.id)
    assert [one.pages for one in found] == [3, 2]


def test_crawl_does_not_end_early_before_all_claimed_sources_are_open(begun):
    one = begun(NEWS_ONCE=1)
    one.read_all()
    assert not one.crawl.leasing.has_pending
    with one.crawl.session.database.write() as connection:
        connection.exec_driver_sql(f"UPDATE site SET worker_id = NULL WHERE site = '{B}'")
    one.share().begin()
    assert one.crawl.leasing.has_pending


def test_crawl_that_ends_early_ends_when_no_worker_has_anything_due(begun):
    first, second = shared(begun(NEWS_ONCE=1), begun(NEWS_ONCE=1))
    for worker in (first, second):
        worker.read_all()
    ((due,),) = first.rows(f"SELECT count(*) FROM poll WHERE due_at > {NOW}")
    assert due >= 3
    rounds(first, second)
    assert [worker.crawl.leasing.has_pending for worker in (first, second)] == [False, False]
    for worker in (first, second):
        worker.close()
    assert first.states() == [("interrupted", "finished")]
