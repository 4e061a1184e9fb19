"""A paper whose feed announces articles only after the crawl has read their pages."""

import random
from contextlib import closing

import pytest

from crawlers.reports.crawl_manifest import crawl_rules
from crawlers.reports.histories.history import history_lines
from crawlers.reports.histories.url_history import url_history
from crawlers.store.database import Database
from crawlers.store.reading.queries import crawl_named
from tests.integration.missions.news.test_news import SETTINGS, WORDS, kill_before_commit, run
from tests.support.sites.server import Web

ARTICLES = 4


class LatePaper:
    """The feed is empty until `announces`; nothing but the feed says that the stories are articles.

    Each story leads to sections that nothing else links to, so it looks like a page that shows new articles, and is
    polled. The feed names half of the stories by addresses that redirect to them; the home page links to one of these.
    """

    def __init__(self):
        self.web = Web(late=self._respond)
        self.announces = False
        self.on_request = None

    @property
    def origin(self):
        return self.web["late"].origin

    def announced(self):
        return [f"{self.origin}/{'go' if number % 2 else 'story'}-{number}" for number in range(ARTICLES)]

    def stories(self):
        return [(f"{self.origin}/story-{number}",) for number in range(ARTICLES)]

    async def _respond(self, exchange):
        path = exchange.path
        name, _, number = path[1:].partition("-")
        if path == "/":
            links = "".join(f"<a href=/story-{n}>s</a>" for n in range(ARTICLES)) + "<a href=/go-1>g</a>"
            await exchange.page(f"<link rel=alternate type=application/rss+xml href=/feed>{links}")
        elif path == "/feed":
            items = "".join(f"<item><link>{url}</link></item>" for url in self.announced()) if self.announces else ""
            await exchange.page(f"<rss><channel>{items}</channel></rss>", content_type="application/rss+xml")
        elif name == "go":
            await exchange.page("", 301, Location=f"/story-{number}")
        elif name == "story" and exchange.request.headers.get("if-none-match") == f'"{number}"':
            await exchange.page("", 304, ETag=f'"{number}"')
        elif name == "story":
            words = random.Random(number)
            texts = "".join(f"<p>{' '.join(words.choices(WORDS, k=60))}.</p>" for _ in range(4))
            sections = "".join(f"<a href=/section-{number}-{n}>more</a>" for n in range(3))
            body = f"<title>Story {number}</title><h1>Story {number}</h1>{texts}{sections}"
            await exchange.page(body, ETag=f'"{number}"')
        elif name == "section":
            await exchange.page("<title>Section</title><p>Nothing.")
        else:
            await exchange.page("none", 404)


@pytest.fixture
def paper():
    paper = LatePaper()
    with paper.web:
        yield paper


def crawl_of(crawl_in, paper, name):
    crawl = crawl_in(name, (), spider="news", **{**SETTINGS, "NEWS_RULES": "none"})
    (crawl.folder / "sources.yaml").write_text(f"sources:\n  - {{site: '{paper.origin}'}}\n", "utf-8")
    assert run(crawl) == 0
    assert documents(crawl) == []
    assert polled(crawl) == ARTICLES
    paper.announces = True
    return crawl


def documents(crawl):
    return crawl.query("SELECT url FROM document ORDER BY url")


def polled(crawl):
    ((number,),) = crawl.query("SELECT count(*) FROM poll JOIN page p ON p.id = page_id WHERE url LIKE '%/story-%'")
    return int(number)


def test_articles_that_were_read_before_their_announcement_are_stored_despite_kills(paper, crawl_in):
    crawl = crawl_of(crawl_in, paper, "late")
    rng = random.Random(1)
    for _ in range(3):
        kill_before_commit(crawl, paper, rng)
    for _ in range(2):
        assert run(crawl) == 0
    assert documents(crawl) == paper.stories()
    with closing(Database(f"sqlite:///{crawl.database}", create=False)) as database:
        for path, feeds in (("story-0", 1), ("story-1", 1), ("story-3", 1), ("section-1-1", 0)):
            url = f"{paper.origin}/{path}"
            found = url_history(database, crawl_named(database, "news"), url, crawl_rules({}), 0.0, lambda: True)
            told = "\n".join(history_lines(found))
            assert told.count("announced by") == feeds
            assert told.count("  document: Story") == feeds
            assert told.count("no document") == 1 - feeds
