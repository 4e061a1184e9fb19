"""The simulated press: articles, their depth, copies, and changes over time."""

import html
import json
import re
import time
import urllib.error
import urllib.request
from collections import deque
from functools import cache
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from crawlers.urls.url_expressions import UrlExpressions
from examples.press.press import Press
from examples.press.schemas import SCHEMAS
from examples.press.server import Options, read_log, serve

NOW = 1_780_000_000.0
HOUR_S, DAY_S = 3600, 86_400
ORIGINS = [f"http://press-{number:02}.test" for number in range(40)]
SMALL = {"per_day": 2.4, "archive_days": 36}
WALKED = (5, 6)  # sites of two schemas, whose pages are all visited


@cache
def small():
    return Press(1, ORIGINS, NOW, **SMALL)


def links(origin, body):
    """Return the addresses of the same site that a page links to; no link of the press is relative to its page."""
    hrefs = {html.unescape(href) for href in re.findall(r'<a href="([^"]*)"', body.decode())}
    return [href for href in (href.removeprefix(origin) for href in hrefs) if href.startswith("/")]


@cache
def walk(number):
    """Return every reachable address of a site with its clicks from the start URL."""
    press, origin = small(), ORIGINS[number]
    clicks, queue = {"/": 0}, deque(["/"])
    while queue:
        address = queue.popleft()
        response = press.page(urlsplit(origin).netloc, address, NOW)
        assert response.status == 200, f"{origin}{address} is linked, and not there"
        for found in links(origin, response.body):
            if found not in clicks:
                clicks[found] = clicks[address] + 1
                queue.append(found)
    return clicks


walked = pytest.mark.parametrize("number", WALKED)


@walked
def test_a_tenth_of_the_addresses_are_articles_and_every_article_is_reachable(number):
    press, origin = small(), ORIGINS[number]
    reached = {origin + address for address in walk(number)}
    articles = {url for url in reached if press.is_article(url, NOW)}
    assert articles == {article.url for article in press.articles(press.hosts[number], NOW)}
    assert 0.07 < len(articles) / len(reached) < 0.13


@walked
def test_manual_rule_matches_articles_and_nothing_else(number):
    press, origin = small(), ORIGINS[number]
    (rule,) = press.rules(press.hosts[number])
    expressions = UrlExpressions([rule])
    for address in walk(number):
        assert bool(expressions.matching(address)) == press.is_article(origin + address, NOW), address


def test_rules_of_all_schemas_match_their_articles():
    press = small()
    for host in press.hosts[: len(SCHEMAS)]:
        (rule,) = press.rules(host)
        expressions = UrlExpressions([rule])
        for article in press.articles(host, NOW):
            assert expressions.matching(article.url.partition(host)[2])
            assert press.page(host, article.url.partition(host)[2], NOW).status == 200


def test_new_articles_appear_on_the_home_page_and_in_the_feed_and_none_disappear():
    press = small()
    linked = [plan for plan in press.plans if plan.feed and not plan.feed.flaw]
    for plan in linked[:4]:
        host = urlsplit(plan.origin).netloc
        before, later = (press.articles(host, now) for now in (NOW, NOW + 4 * DAY_S))
        assert [one.url for one in later[: len(before)]] == [one.url for one in before]
        newest = later[-1]
        address = newest.url.removeprefix(plan.origin)
        assert len(later) > len(before)
        assert all(article.published_at <= NOW + 4 * DAY_S for article in later)
        assert press.page(host, address, newest.published_at - 1).status == 404
        assert press.page(host, address, newest.published_at).status == 200
        assert address in links(plan.origin, press.page(host, "/", NOW + 4 * DAY_S).body)
        for now in (NOW, NOW + 4 * DAY_S):
            newest = [one.copy_of or one.url for one in reversed(press.articles(host, now)[-20:])]
            assert [press.document(url, now) for url in feed_links(press, plan, now)] == newest


def feed_links(press, plan, now):
    body = press.page(urlsplit(plan.origin).netloc, plan.feed.path, now).body
    if plan.feed.kind == "json":
        return [item["url"] for item in json.loads(body)["items"]]
    tree = ElementTree.fromstring(body)  # noqa: S314 - our own
    if plan.feed.kind == "rss":
        return [link.text for link in tree.findall("channel/item/link")]
    return [link.get("href") for link in tree.iter("{http://www.w3.org/2005/Atom}link")]


def test_correction_changes_the_text_once():
    press = small()
    host = press.hosts[6]
    article = next(one for one in press.articles(host, NOW) if one.correction)
    assert article.correction != article.text
    address = article.url.partition(host)[2]
    at = [press.page(host, address, article.published_at + hours * HOUR_S).body for hours in (0, 3, 5, 9)]
    texts = [re.search(rb"<div class=text>.*?</div>", body, re.DOTALL)[0] for body in at]
    assert texts[0] == texts[1] != texts[2] == texts[3]
    assert b"Correction" in texts[2]


def test_every_response_depends_only_on_seed_and_time():
    one, other = (Press(7, ORIGINS[:3], NOW, **SMALL) for _ in range(2))
    for host in one.hosts:
        other.page(host, "/latest/", NOW + DAY_S)  # previous requests do not matter
        for address in ("/", "/robots.txt", one.articles(host, NOW)[3].url.partition(host)[2]):
            assert one.page(host, address, NOW) == other.page(host, address, NOW)
    assert Press(8, ORIGINS[:3], NOW, **SMALL).page(host, "/", NOW) != one.page(host, "/", NOW)


def test_server_distinguishes_its_sites_and_supports_conditional_requests(tmp_path):
    log = tmp_path / "requests"
    options = Options(1, 3, NOW, real_began=time.time(), speed=0, per_day=3, archive_days=5, log=str(log))
    with serve(options) as served:
        for host, plan in zip(served.press.hosts, served.press.plans, strict=True):
            with urllib.request.urlopen(plan.origin + "/", timeout=10) as response:
                assert response.read() == served.press.page(host, "/", NOW).body
                version = response.headers["ETag"]
        again = urllib.request.Request(plan.origin + "/", headers={"If-None-Match": version})
        with pytest.raises(urllib.error.HTTPError, match="304"):
            urllib.request.urlopen(again, timeout=10)
        assert served.clock() == NOW
    assert [(requests.status, requests.url) for requests in read_log(log)] == [
        *((200, plan.origin + "/") for plan in served.press.plans),
        (304, plan.origin + "/"),
    ]
