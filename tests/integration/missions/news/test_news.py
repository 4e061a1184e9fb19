"""News crawls of two papers that keep publishing: each document is stored once, whenever the crawl is killed."""

import random
import signal
import sqlite3
from contextlib import closing

import pytest

from crawlers.urls.keys import content_hash
from tests.support.killing import killed_at_request
from tests.support.running import add_on
from tests.support.sites.server import Web

WORDS = [f"{a}{b}" for a in ("river", "council", "winter", "engine") for b in ("side", "house", "land", "works")]
OLD, NEW = 12, 24  # articles of each paper when the crawl begins, and in the end
SHOWN = 8  # items of the feed
SETTINGS = {
    "SITE_DELAY_SECONDS": 0,
    "STORE_BATCH_SECONDS": 0.01,
    "RETRY_BACKOFF_SECONDS": 0.01,
    "FEED_MIN_SECONDS": 0.5,
    "FEED_MAX_SECONDS": 1.0,
    "FEED_POLLS_PER_SECOND": 50,
    "EXTRACTION_PROCESSES": 1,
    "NEWS_ONCE": 1,
}


class Press:
    """Papers `fed`, with a feed, and `bare`, without. An article appears at every second request; all have ETags."""

    def __init__(self):
        self.web = Web(fed=self._paper("fed"), bare=self._paper("bare"))
        self.on_request = None
        self.is_corrected = False  # the stories changed
        self.is_down = False  # the hosts respond with 503
        self.unchanged = 0  # number of 304 responses
        self._requests = {"fed": 0, "bare": 0}

    def sources(self):
        own = ", rules: ['/story-\\d+\\.html']"
        return "sources:\n" + "".join(f"  - {{site: '{self.web[name].origin}'{own}}}\n" for name in self._requests)

    def path(self, number):
        return f"/story-{number}.html"

    def _paper(self, name):
        async def respond(exchange):
            if exchange.path == "/robots.txt":
                await exchange.page("none", 404)
                return
            if self.is_down:
                await exchange.page("down", 503)
                return
            if self.on_request is not None:
                self.on_request()
            self._requests[name] += 1
            published = min(NEW, OLD + self._requests[name] // 2)
            origin, path = self.web[name].origin, exchange.path

            async def give(body, content_type="text/html"):
                etag = f'"{content_hash(body.encode()).hex()}"'
                is_known = exchange.request.headers.get("if-none-match") == etag
                self.unchanged += is_known
                status, sent = (304, "") if is_known else (200, body)
                await exchange.page(sent, status, content_type=content_type, ETag=etag)

            if path == "/feed.xml" and name == "fed":
                items = "".join(
                    f"<item><title>Story {n}</title><link>{origin}{self.path(n)}</link></item>"
                    for n in range(published, max(0, published - SHOWN), -1)
                )
                body = f"<rss version='2.0'><channel><title>Fed</title>{items}</channel></rss>"
                await give(body, "application/rss+xml")
            elif path == "/":
                feed = "<link rel=alternate type=application/rss+xml href=/feed.xml>" if name == "fed" else ""
                links = "".join(f"<p><a href={self.path(n)}>Story {n}</a>" for n in range(1, published + 1))
                await give(f"<title>Home</title>{feed}<a href=/about.html>about</a>{links}")
            elif path == "/about.html":
                await give("<title>About</title><p>We write.")
            elif path.startswith("/story-") and (number := int(path[7:-5])) <= published:
                await give(url_history(name, number, is_corrected=self.is_corrected))
            else:
                await exchange.page("nothing", 404)

        return respond


def url_history(name, number, *, is_corrected=False):
    rng = random.Random(f"{name} {number}")
    paragraphs = "".join(f"<p>{' '.join(rng.choices(WORDS, k=60)).capitalize()}.</p>" for _ in range(4))
    if is_corrected:
        paragraphs += "<p>Correction: the bridge is older than we wrote, and it was never sold to anybody."
    date = f"2026-11-{number % 20 + 1:02}T08:00:00+00:00"
    return (
        f"<html><head><title>Story {number} of {name}</title><meta property=og:type content=article>"
        f"<meta property='article:published_time' content='{date}'></head><body><nav><a href=/>home</a></nav>"
        f"<article><h1>Story {number} of {name}</h1>{paragraphs}</article></body></html>"
    )


@pytest.fixture
def press():
    press = Press()
    with press.web:
        yield press


def news_in(crawl_in, press, name, **settings):
    crawl = crawl_in(name, (), spider="news", **{**SETTINGS, **settings})
    (crawl.folder / "sources.yaml").write_text(press.sources(), "utf-8")
    return crawl


def run(crawl, **settings):
    return crawl.start(arguments=("sources=sources.yaml",), **settings).wait().status


def documents(crawl):
    return crawl.query("SELECT url, title FROM document ORDER BY url")


def all_of(press):
    return sorted(
        (press.web[name].origin + press.path(number), f"Story {number} of {name}")
        for name in ("fed", "bare")
        for number in range(1, NEW + 1)
    )


def go_on_until(crawl, is_so):
    """Each run polls what is due and ends; after some, nothing new appears, and a page that is due is unchanged."""
    for _ in range(12):
        if is_so():
            return
        assert run(crawl) == 0


def go_on_until_all_is_published(crawl):
    go_on_until(crawl, lambda: len(documents(crawl)) == 2 * NEW)


def test_every_article_becomes_one_document_and_a_later_crawl_does_not_fetch_it_again(press, crawl_in):
    crawl = news_in(crawl_in, press, "whole")
    go_on_until_all_is_published(crawl)
    assert documents(crawl) == all_of(press)
    assert crawl.query("SELECT kind, count(*) FROM poll GROUP BY 1 ORDER BY 1") == [("feed", 1), ("home", 2)]
    found = f"SELECT text, published FROM document WHERE url LIKE '%{press.path(3)}' LIMIT 1"
    ((text, published),) = crawl.query(found)
    assert "home" not in text
    assert published.startswith("2026-11-04T08:00")
    fetched = sum(path.startswith("/story-") for path in press.web["bare"].paths)
    assert run(crawl, CRAWL="again") == 0
    assert sum(path.startswith("/story-") for path in press.web["bare"].paths) == fetched
    assert documents(crawl) == all_of(press)
    assert crawl.query("SELECT count(*) FROM page WHERE reason LIKE 'stored_earlier %'") == [(2 * NEW,)]


def kill_at_request(crawl, press, rng):
    how = {"arguments": ("sources=sources.yaml",), "STORE_BATCH_SECONDS": rng.choice((0.001, 0.005, 0.02))}
    return killed_at_request(crawl, press, rng.randint(3, 20), **how)


def kill_before_commit(crawl, press, rng):
    where = {"ADDONS": add_on("KillBeforeCommit"), "KILL_BEFORE_COMMIT": rng.randint(3, 12)}
    return run(crawl, STORE_BATCH_SECONDS=0.002, **where)


def test_killed_crawl_loses_and_doubles_no_document_and_misses_no_item(press, crawl_in):
    crawl = news_in(crawl_in, press, "killed")
    rng = random.Random(3)
    statuses = [
        kill(crawl, press, rng) for kill in (kill_at_request, kill_before_commit, kill_at_request, kill_before_commit)
    ]
    assert statuses.count(-signal.SIGKILL) >= 3
    go_on_until_all_is_published(crawl)
    go_on_until(crawl, lambda: press.unchanged > 0)
    assert press.unchanged > 0
    assert documents(crawl) == all_of(press)
    items = crawl.query(
        "SELECT p.url FROM feed_item i JOIN page p ON p.key = i.key JOIN document d ON d.page_id = p.id"
    )
    assert len(set(items)) == len(items)
    assert {url for (url,) in items} <= {url for url, _ in documents(crawl)}
    assert crawl.query("SELECT count(*) FROM feed_item") == [(len(items),)], "each announced article is a document"


def test_article_that_changed_keeps_its_versions(press, crawl_in):
    crawl = news_in(crawl_in, press, "corrected", NEWS_RECHECK_HOURS=1e-5)
    assert run(crawl, PAGE_BUDGET=12) == 0
    before = dict(crawl.query("SELECT page_id, text FROM document WHERE version = 1"))
    press.is_corrected = True
    assert run(crawl) == 0
    changed = crawl.query("SELECT page_id, text FROM document WHERE version = 2 AND changed_at > stored_at")
    versions = dict(crawl.query("SELECT page_id, text FROM document_version WHERE version = 1"))
    assert changed
    assert all("never sold" in text for _, text in changed)
    assert {page: versions[page] for page, _ in changed} == {page: before[page] for page, _ in changed}


def test_removed_feed_and_omitted_source_are_not_requested_until_they_return(press, crawl_in):
    crawl = news_in(crawl_in, press, "fewer")
    assert run(crawl) == 0
    file = crawl.folder / "sources.yaml"
    whole, bare = file.read_text("utf-8"), press.web["bare"]
    polls, requests = [press.web["fed"].paths.count("/feed.xml")], [len(bare.paths)]
    fewer = "".join(line for line in whole.splitlines(True) if bare.origin not in line)
    for is_wanted, text in enumerate((fewer, whole)):
        with closing(sqlite3.connect(crawl.folder / "crawl.sqlite")) as store, store:
            store.execute("UPDATE feed SET enabled = ?", [is_wanted])
        file.write_text(text, "utf-8")
        ended = crawl.start(arguments=("sources=sources.yaml",)).wait().done()
        assert ("left alone until they are listed again: 1 site with" in ended.log) == (text is fewer)
        polls.append(press.web["fed"].paths.count("/feed.xml"))
        requests.append(len(bare.paths))
    assert 0 < polls[0] == polls[1] < polls[2]
    assert 0 < requests[0] == requests[1] < requests[2]
    ended = crawl.start(arguments=()).wait()
    assert ended.status != 0
    assert "no enabled" in ended.log, "sources of earlier crawls do not stand in for a file"


def test_run_whose_polls_all_fail_does_not_say_that_nothing_was_left_to_do(press, crawl_in):
    crawl = news_in(crawl_in, press, "down", RETRY_TIMES=0)
    assert run(crawl) == 0
    before = len(press.web["fed"].paths)
    visits = crawl.query("SELECT id, fetched_at, retry_at FROM page ORDER BY id")
    press.is_down = True
    ended = crawl.start(arguments=("sources=sources.yaml",)).wait()
    assert len(press.web["fed"].paths) > before
    assert crawl.query("SELECT id, fetched_at, retry_at FROM page ORDER BY id") == visits
    assert "Crawl news ended: " in ended.log
    assert "Nothing was left to do" not in ended.log
