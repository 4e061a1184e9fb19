"""A run of a news crawl of one site in a real store, with the pages that a test gives."""

import asyncio
from functools import partial
from types import SimpleNamespace
from typing import TypeVar

from crawlers.bandits.turns import RoundRobin
from crawlers.crawl.leasing import fail_loop
from crawlers.frontier.budget import PullBudget
from crawlers.frontier.frontier import Frontier
from crawlers.frontier.sql_store import SqlFrontierStore
from crawlers.frontier.values import Candidate
from crawlers.items import Page, State
from crawlers.missions.news.articles import ArticlePolicy
from crawlers.missions.news.dedup.document_copies import Duplicates
from crawlers.missions.news.feeds.announcements import Announcements
from crawlers.missions.news.feeds.feed_registry import FeedRegistry
from crawlers.missions.news.feeds.sources import SourceOwners
from crawlers.missions.news.news_items import FEED, SITEMAP, Announced, News
from crawlers.missions.news.news_run import NewsRun
from crawlers.missions.news.news_sites import NewsSites
from crawlers.missions.news.plan.news_scores import BEFORE_ARTICLES, by_fit
from crawlers.missions.news.plan.poll_plan import PollLimits
from crawlers.missions.news.plan.polls import Polls
from crawlers.missions.news.stored.iterations import counted_page
from crawlers.missions.news.stored.stored_sources import list_feeds
from crawlers.missions.news.urls.requeue import Requeue
from crawlers.missions.news.urls.rule_learner import HAND, UrlRule
from crawlers.missions.news.urls.stored_rules import replace_rules
from crawlers.missions.news.urls.url_classifier import UrlClassifier
from crawlers.store.sites.site_opening import SiteRow
from crawlers.store.writing.writer import Writer
from crawlers.urls.resolution import resolve
from crawlers.urls.scope import Scope
from tests.support.stored_rows import begin, committed

T = TypeVar("T")

SITE, NOW, HOUR = "http://one.test", 1e9, 3600.0
OUT = "http://out.test"  # an excluded source
RULE = UrlRule(r"/a\d+", 1.0, "hand")


def target(path):
    return resolve(SITE, path)


async def in_process(owner, function, *args):
    """Do what `ExtractionPool.run` does, in this process."""
    return function(*args)


class WatchedCommits:
    """The commits of a writer; counts how many times they are waited for."""

    def __init__(self, writer):
        self._writer = writer
        self.waits = 0

    @property
    def submitted(self):
        return self._writer.submitted

    def wait_for(self, number):
        self.waits += 1
        self._writer.wait_for(number)


async def at_once(query):
    """Run a query in the thread that asks."""
    return query()


class Crawl:
    """A run of a crawl; a second one on the same database resumes it."""

    def __init__(self, database, *rules, roots=(), removed=(), learns=False, in_thread=at_once):
        self.database = database
        begun = begin(database, SiteRow(0, SITE, 9, None, 0.0), mission="news", now=NOW)
        (row,) = begun.sites
        self.site_id, self.id = row.id, begun.id
        self.writer = Writer(database, batch_s=0.001)
        self.commits = WatchedCommits(self.writer)
        self.frontier = Frontier(
            SqlFrontierStore(database, self.writer, begun.id, looks_back=True),
            by_fit(explore=0.0, archive=0.0),
            PullBudget(RoundRobin(), 0, records=False),
            reason_against=lambda url: self.mission.reason_against(url),
        )
        self.frontier.open_site(SiteRow(row.id, SITE, 99, None, 0.0), NOW)
        committed(replace_rules, database, HAND, {"one.test": rules})
        classifier = UrlClassifier("learnt" if learns else "manual")
        self.polls = Polls(1.0, PollLimits(60.0, 6 * HOUR, 12 * HOUR), most_pages=2)
        requeue = Requeue(classifier, self.frontier, self.commits, in_thread)
        duplicates = Duplicates(database, self.writer)
        self.articles = ArticlePolicy(
            classifier,
            duplicates,
            database,
            {},
            lambda url, but: self.frontier.discovery.page_of(target(url)),
        )
        feeds = FeedRegistry(
            resolve,
            [f"{SITE}/"],
            {self.url(path): SITEMAP if "map" in path else FEED for path in roots},
            map(self.url, removed),
            [OUT],
            SourceOwners([(SITE, [])]),
        )
        announcements = Announcements(database, begun.id, self.commits, self.frontier, self.polls)
        parts = (self.frontier, classifier, requeue, self.polls, feeds, announcements)
        self.mission = NewsRun(
            NewsSites(database, self.writer, *parts, {}),
            self.articles,
            Scope("sites", [SITE]),
            SimpleNamespace(pool=None),
            counted=partial(counted_page, begun.id, 1000),
            recheck_s=0.0,
            in_thread=in_thread,
        )
        self.mission.load_sites(begun.sites)(NOW)
        self.frontier.add([Candidate(row.id, target(path), hint=BEFORE_ARTICLES) for path in ("/", *roots)], NOW)

    def url(self, path):
        return target(path).url

    def lease(self, now=NOW):
        (lease,) = self.frontier.lease(now, 1)
        return lease

    def leases(self, now=NOW):
        return {lease.url.removeprefix(SITE): lease for lease in self.frontier.lease(now, 99)}

    def end(self, lease, *links, now=NOW, state=State.DONE, **more):
        page = Page(
            lease.id,
            lease.url,
            lease.level,
            state,
            more.pop("status", 200),
            facts=more.pop("news", None) or News(self.mission.kind(lease)),
            content_hash=f"{lease.id} {now}".encode(),
            links=[(target(link), 1) for link in links],
            **more,
        )
        page = fail_loop(lease, page)
        asyncio.run(self.mission.prepare(lease, page, now))
        self.decision = self.mission.decide(lease, page, now)
        return self.frontier.acknowledge(lease, self.decision, now)[1]

    def slot(self, path):
        """Return the stored queue and value."""
        found = self.rows("SELECT s.queue, s.value FROM news_score s JOIN page p ON p.id = s.page_id WHERE p.key", path)
        return found[0]

    def poll(self, path):
        """Return kind, failures and new items of a scheduled page."""
        found = self.rows(
            "SELECT kind, failures, new_items FROM poll s JOIN page p ON p.id = page_id WHERE p.key", path
        )
        return found[0] if found else ()

    def feeds(self):
        """Return the paths of the feeds in the store."""
        self.writer.flush()
        return {url.removeprefix(SITE) for (_, _, url, *_) in list_feeds(self.database, hash)}

    def rows(self, statement, path):
        self.writer.flush()
        with self.database.read() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(f"{statement} = {target(path).key}")]


def feed(*paths, kind=FEED, further=()):
    items = [Announced(target(path), NOW - 60.0 * n, path) for n, path in enumerate(paths)]
    return News(kind, announces=bool(paths), items=items, feeds=[target(path) for path in further])
