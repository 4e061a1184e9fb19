"""Crawls of one site whose policy does what a test wants."""

from contextlib import ExitStack
from functools import partial
from types import SimpleNamespace

import pytest

from crawlers.crawl.open_sites import OpenSites
from crawlers.crawl.run import Run
from crawlers.frontier.values import Decision
from crawlers.urls.addresses import SiteAddresses
from tests.support.opened_crawl import SITE, OpenedCrawl


class Policy(Run):
    """Skips some pages, and changes titles."""

    def __init__(self):
        self.is_ready = True
        self.more = False
        self.skipped = set()
        self.refused = set()
        self.decides = Decision

    @property
    def has_more(self):
        return self.more

    def reason_against(self, target):
        return "extension x" if target.url in self.refused else None

    def reason_to_skip(self, lease):
        return "feed_removed" if lease.url.removeprefix(SITE) in self.skipped else None

    def decide(self, lease, page, now):
        return self.decides(page)

    def found_by_robots(self, sitemaps):
        return sitemaps


def open_sites(open_site=lambda state, now, start: None, **session):
    """Return the session of a crawl, of which *session* are further parts, and its sites."""
    session = SimpleNamespace(
        frontier=SimpleNamespace(open_site=open_site),
        writer=SimpleNamespace(flush=lambda: None),
        database=None,
        addresses=SiteAddresses(),
        clock=lambda: 0.0,
        **session,
    )
    return session, OpenSites(session)


@pytest.fixture
def policy():
    return Policy()


@pytest.fixture
def begin(sqlite_url):
    """Begins crawls on one store: the arguments are those of `OpenedCrawl`, without the store."""
    with ExitStack() as stack:

        def begin_crawl(policy=None, mission=None, kind=OpenedCrawl, **settings):
            crawl = kind(sqlite_url, policy, mission, **settings)
            stack.callback(crawl.kill)
            return crawl

        yield begin_crawl


@pytest.fixture
def opened(begin, policy):
    """Opens a crawl of one site; *settings* are Scrapy's, *mission* has fields of its specification."""
    return partial(begin, policy)
