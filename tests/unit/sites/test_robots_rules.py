"""robots.txt: asked for once before any page, obeyed, kept, and never a reason to fail.

The name by which robots.txt addresses the crawl.
"""

import pytest
from scrapy.settings import Settings

from crawlers.errors import ConfigError
from crawlers.items import State
from crawlers.pages.robots_groups import UNREACHABLE
from crawlers.sites.robots_rules import (
    MAX_BYTES,
    MAX_SITEMAPS,
    MAX_WILDCARDS,
    RobotsRules,
    robots_text,
    robots_token,
    sitemaps_of_robots,
)
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

HOME = links("/open.html", "/secret/a.html", "/secret/b.html")
BODIES = {"/": HOME, "/open.html": links("/secret/c.html"), "/secret/a.html": "a", "/secret/b.html": "b"}
TOKEN = "crawlers"


async def broken(exchange):
    await exchange.page("robots are out of order", 500)


SITES = {
    "rules": pages(BODIES, "User-agent: *\nDisallow: /secret/"),
    "closed": pages(BODIES, "User-agent: *\nDisallow: /"),
    "missing": pages(BODIES),
    "broken": broken,
    "dead": None,
    "foreign": pages(BODIES, "User-agent: https\nUser-agent: c\nUser-agent: crawler\nDisallow: /"),
    "version": pages(BODIES, "User-agent: Crawlers/1.0\nCrawl-delay: 0\nUser-agent: x\nX: y\nDisallow: /secret/"),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """A crawl of all sites, each with its own kind of robots.txt."""
    settings = {"RETRY_BACKOFF_SECONDS": 0, "SITEMAPS_ENABLED": 0}
    project = Project(tmp_path_factory.mktemp("robots"), **settings)
    with Web(**SITES) as web:
        ended = project.crawl(web.hosts()).done()
        assert "Traceback" not in ended.log
        assert project.outcomes == [("finished", "finished")]
        yield web, project


@pytest.mark.parametrize("name", ["rules", "missing", "closed"])
def test_robots_txt_is_asked_for_once_and_first(crawled, name):
    web, _ = crawled
    assert web[name].paths[0] == "/robots.txt"
    assert web[name].count("/robots.txt") == 1


@pytest.mark.parametrize("name", ["rules", "version"])
def test_forbidden_pages_are_not_fetched_whatever_the_file_looks_like(crawled, name):
    web, project = crawled
    assert set(web[name].paths) == {"/", "/open.html", "/robots.txt"}
    assert project.pages(web[name].origin)["/open.html"] == (State.DONE, "")
    assert project.pages(web[name].origin)["/secret/a.html"] == (State.REJECTED, "robots_disallows")


@pytest.mark.parametrize("name", ["missing", "foreign"])
def test_missing_robots_txt_and_rules_for_others_whose_names_occur_in_ours_allow_everything(crawled, name):
    web, project = crawled
    assert set(BODIES) <= set(web[name].paths)
    assert project.site(web[name].origin)["availability"] is None


@pytest.mark.parametrize(
    ("name", "status", "why"),
    [
        ("broken", 500, "status 500"),
        ("dead", UNREACHABLE, "connection_refused"),
    ],
)
def test_unreadable_robots_txt_forbids_everything_and_the_store_says_why(crawled, name, status, why):
    web, project = crawled
    assert set(web[name].paths) <= {"/robots.txt"}
    assert len(web[name].paths) in (0, 3)  # once, and RETRY_TIMES again
    row = project.site(web[name].origin)
    assert row["robots_status"] == status
    assert why in row["availability"]
    assert "robots_unread" in row["availability"]
    assert project.pages(web[name].origin) == {"/": (State.REJECTED, row["availability"])}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429, 500, 503, 599])
def test_client_errors_allow_everything_and_server_errors_forbid_it(status):
    reason = RobotsRules(status, None, TOKEN).reason_against("http://a.example/x")
    assert reason == (f"robots_unread status {status}" if status >= 429 else None)


DELAYS = {"2": 2.0, "1e308": 1e308, **dict.fromkeys(("-1", "1e309", "inf", "nan", "9" * 400, "soon", ""), 0.0)}


@pytest.mark.parametrize(("text", "delay_s"), DELAYS.items())
def test_crawl_delay_is_a_number_or_nothing(text, delay_s):
    assert RobotsRules(200, f"User-agent: *\nCrawl-delay: {text}\n", TOKEN).crawl_delay_s == delay_s


def test_credentials_in_addresses_of_sitemaps_are_left_out():
    text = robots_text(b"User-agent: *\nDisallow: /u:p@x\n SITEMAP : https://me:secret@a.example/x@y.xml # daily\n")
    assert text == "User-agent: *\nDisallow: /u:p@x\n SITEMAP : https://a.example/x@y.xml # daily\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_byte_order_mark_of_any_encoding_does_not_hide_a_group(encoding):
    mark = "" if encoding == "utf-8-sig" else "\ufeff"
    text = robots_text(f"{mark}User-agent: *\r\nDisallow: /x\r\n".encode(encoding))
    assert text == "User-agent: *\r\nDisallow: /x\r\n"


def test_line_that_exceeds_the_limit_is_not_a_rule():
    text = robots_text(b"User-agent: *\nDisallow: /a\nAllow: /" + b"b" * MAX_BYTES)
    assert text == "User-agent: *\nDisallow: /a"
    assert robots_text(b"Disallow: /a" * MAX_BYTES) == ""
    assert len(robots_text(b"#\n" * MAX_BYTES)) == MAX_BYTES - 1


def test_file_with_a_million_wildcards_closes_the_site_at_once():
    text = "User-agent: *\n" + "".join(f"Disallow: /*{number}*$\n" for number in range(MAX_WILDCARDS + 1))
    rules = RobotsRules(200, text, TOKEN)
    assert rules.reason_against("http://a.example/x") == "robots_wildcards 2000"
    assert RobotsRules(200, f"User-agent: other\n{text}User-agent: crawlers\nAllow: /", TOKEN).size < 10


@pytest.mark.parametrize(
    ("named", "user_agent", "token"),
    [
        (None, "crawlers/0.1 (+https://example.org)", "crawlers"),
        ("ours", "crawlers/0.1", "ours"),
        ("ours/2.0 (test)", "crawlers/0.1", "ours"),
        (None, "(+https://example.org)", "*"),
    ],
)
def test_token_is_named_or_derived(named, user_agent, token):
    assert robots_token(Settings({"ROBOTSTXT_USER_AGENT": named, "USER_AGENT": user_agent})) == token


def test_setting_without_a_name_is_refused():
    with pytest.raises(ConfigError, match=r"ROBOTSTXT_USER_AGENT='\(!\)' contains no name; write one of letters"):
        robots_token(Settings({"ROBOTSTXT_USER_AGENT": "(!)"}))


def test_robots_names_sitemaps_anywhere_in_any_case():
    text = """\ufeffSitemap: https://example.com/a.xml
User-agent: *
Disallow: /x
  SITEMAP :https://example.com/b.xml.gz # news\r
sitemap: /relative.xml
Sitemap: map.xml.gz
Sitemap: //b.example/map
Sitemap: mailto:x@example.com
Sitemap: http://[bad/
Sitemap:
# Sitemap: https://example.com/c.xml
Sitemap: https://example.com/a.xml"""
    assert sitemaps_of_robots(text, "http://a.example:81") == [
        "https://example.com/a.xml",
        "https://example.com/b.xml.gz",
        "http://a.example:81/relative.xml",
        "http://a.example:81/map.xml.gz",
        "http://b.example/map",
    ]
    many = "\n".join(f"Sitemap: https://example.com/{i}" for i in range(2000))
    assert len(sitemaps_of_robots(many, "http://a.example")) == MAX_SITEMAPS
    bad = "\n".join(f"Sitemap: ftp:{i}" for i in range(MAX_SITEMAPS))
    assert sitemaps_of_robots(f"{bad}\nSitemap: /late.xml", "http://a.example") == []
