"""`scrapy sites` manages feeds and rules, tests rules, and suggests the next commands."""

import io
import sys

import pytest
from sqlalchemy import update

from crawlers.commands.sites import Command
from crawlers.missions.news.reports import url_rule_trial
from crawlers.missions.news.stored.news_tables import DiscoveredFeed
from crawlers.missions.news.urls.rule_learner import LEARNT, UrlRule
from crawlers.missions.news.urls.stored_rules import LearntRulesRow
from crawlers.store.schema.tables import page
from crawlers.urls.resolution import resolve
from tests.support.command_here import run_here
from tests.support.missions.news.news_store import NewsStore
from tests.support.stored_rows import execute

SOURCES = r"""
sources:
  - a.example
  - site: https://www.b.example/en/
    feeds: [/rss.xml]
    rules: ['/\d{4}/[^/]+', {regex: '/video/.*', weight: 0}]
"""


B = "https://www.b.example"
BAD = "- site: e.example\n  content:\n    title: h1\n    text: 'div['\n"


@pytest.fixture
def store(database, database_url, tmp_path):
    """The URL of a store with the two sources, a discovered feed, a learnt rule and a small crawl of the second one."""
    (tmp_path / "sources.yaml").write_text(SOURCES)
    run_here(Command(), database_url, "import", str(tmp_path / "sources.yaml"))
    crawl = NewsStore(database, sites=(B,))
    rule = UrlRule("/story/.+", 0.9, LEARNT, False, 40, 0.871, 86_400.0)
    crawl.write(LearntRulesRow("b.example", (rule,)), DiscoveredFeed(B, f"{B}/map.xml", "sitemap"))
    crawl.document("/2024/a", 1.0, site=B)
    crawl.page("/2024/b", 1.0, site=B)
    crawl.document("/story/c", 1.0, site=B)
    crawl.page("/about", 1.0, site=B)
    feed = crawl.poll("/rss.xml", "feed", 86_460.0, site=B, failures=2, problem="status 500")
    # feeds are found by the keys of normal forms
    execute(database, update(page).where(page.c.id == feed).values(key=resolve(f"{B}/rss.xml", "").key))
    return database_url


@pytest.fixture
def sites(store, tmp_path, monkeypatch, capsys):
    """Run an action on the store; return status, lines and errors."""
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()

    def run(*arguments):
        status = run_here(Command(), store, *arguments)
        out, error = capsys.readouterr()
        return status, out.splitlines(), error.splitlines()

    return run


@pytest.mark.both_stores
def test_sources_are_imported_and_faulty_entries_named(sites, tmp_path):
    (tmp_path / "new.yml").write_text("sources:\n- b.example\n- rules: [/x]\n- c.example\n- ftp://d\n" + BAD)
    status, lines, errors = sites("import", "new.yml")
    assert (status, lines) == (0, ["3 http://b.example/ added", "4 http://c.example/ added"])
    assert errors == [
        "Skipped: new.yml:3: site is missing; write `site: https://example.org`",
        "Skipped: new.yml:5: 'ftp://d': unsupported protocol 'ftp'; expected http or https",
        "Skipped: new.yml:9: Invalid selector 'div[' for text; write CSS or XPath (Expected ident or '*', got "
        "<EOF at 4>)",
        "Skipped: 3 of 5 entries; fix them, and import the file again",
    ]
    (tmp_path / "new.yml").write_text("sites: []")
    status, lines, errors = sites("import", "new.yml")
    assert (status, lines, len(errors)) == (2, [], 1)


@pytest.mark.both_stores
def test_feeds_are_listed_with_their_last_poll(sites):
    status, (_, given, found), _ = sites("feeds")
    assert (status, given.split()[0]) == (0, "2")
    cells = ["https://www.b.example/rss.xml", "feed", "given", "yes", "1970-01-02 00:01", "3", "status 500"]
    assert [cell.strip() for cell in given.split("  ") if cell][2:] == cells
    assert found.split() == ["2", "https://www.b.example", "https://www.b.example/map.xml", "sitemap", "found", "yes", "-", "-", "-"]  # fmt: skip # noqa: E501
    assert sites("feeds", "a.example")[1] == [
        "no feeds yet; a news crawl discovers feeds, or add one: scrapy sites add-feed 1 /rss.xml"
    ]


@pytest.mark.both_stores
def test_feed_is_added_removed_and_restored(sites):
    url = "http://a.example/news-sitemap.xml"
    assert sites("add-feed", "1", "/news-sitemap.xml")[1] == [
        f"sitemap {url} of http://a.example added; the next `scrapy crawl news` polls it"
    ]
    _, (said,), _ = sites("remove-feed", "a.example", url)
    assert said == f"{url} of http://a.example is no longer polled; `scrapy sites add-feed 1 {url}` enables it again"
    assert sites("feeds", "1")[1] == ["1 feed is not enabled; --all shows it"]
    assert len(sites("feeds", "b.example")[1]) == 3, "the host is www.b.example"
    assert "sitemap  given   no" in sites("feeds", "1", "--all")[1][1]
    assert "enabled" in sites("add-feed", "1", url)[1][0]


@pytest.mark.both_stores
def test_rules_are_listed_with_weight_support_and_precision(sites):
    _, (headings, *rows), _ = sites("rules", "b.example")
    assert headings.split() == ["number", "domain", "weight", "origin", "pinned", "support", "precision", "learnt", "(UTC)", "rule"]  # fmt: skip # noqa: E501
    assert [row.split() for row in rows] == [
        ["1", "b.example", "1", "hand", "no", "-", "-", "-", r"/\d{4}/[^/]+"],
        ["3", "b.example", "0.9", "learnt", "no", "40", "0.871", "1970-01-02", "00:00", "/story/.+"],
        ["2", "b.example", "forbids", "hand", "no", "-", "-", "-", "/video/.*"],
    ]
    assert sites("rules")[1] == sites("rules", "2")[1] == [headings, *rows]
    assert sites("rules", "1")[1] == [
        "no rules yet; a news crawl learns rules, or add one: scrapy sites add-rule a.example '/news/.+'"
    ]


@pytest.mark.both_stores
def test_rules_are_added_pinned_edited_forbidden_and_removed(sites):
    look = "see what it matches: scrapy sites test-rule"
    for arguments, said in (
        (["add-rule", "2", "/x/.*", "--weight", "0.5"], f"4 of b.example, '/x/.*', added; {look} 4 --site b.example"),
        (["pin-rule", "3"], "3 of b.example, /story/.+, pinned: learning no longer replaces it; remove-rule 3 "),
        (["edit-rule", "3", "/story/.{3}"], "3 of b.example, '/story/.{3}', replaces /story/.+ (it may be learnt"),
        (["edit-rule", "1", "/y"], r"1 of b.example, /y, replaces '/\d{4}/[^/]+' (change it in your sources"),
        (
            ["forbid-rule", "1"],
            "1 of b.example, /y, now forbids: URLs that it matches are not articles, and it is not learnt",
        ),
        (["remove-rule", "4"], "4 of b.example, '/x/.*', removed; if a sources file contains it, remove it there"),
    ):
        status, lines, errors = sites(*arguments)
        assert (status, len(lines), errors) == (0, 1, [])
        assert lines[0].startswith(f"rule {said}")
    assert [row.split()[2:5] for row in sites("rules")[1][1:]] == [
        ["0.9", "hand", "yes"],
        ["forbids", "hand", "yes"],
        ["forbids", "hand", "no"],
    ]


def test_rule_is_tested_on_urls_files_and_standard_input(sites, tmp_path, monkeypatch):
    (tmp_path / "urls.txt").write_text("# mine\n\nhttp://a.example/news/2?p=1#x\nnot a url\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"http://a.example/news/3\nhttp://a.example/\xe9\n")))
    status, lines, errors = sites("test-rule", "/news/[0-9]+", "http://a.example/news/1\udce9", "urls.txt", "-")
    assert (status, errors) == (0, [])
    assert lines == [
        "no match  http://a.example/news/1\ufffd",
        "no match  http://a.example/news/2?p=1#x",
        "invalid   not a url",
        "match     http://a.example/news/3",
        "no match  http://a.example/\ufffd",
        "matches 1 of 5 URLs, 1 invalid; keep it: scrapy sites add-rule SITE '/news/[0-9]+'",
    ]


def test_stored_rule_matches_only_urls_of_its_domain(sites):
    urls = ("https://b.example/2024/x", "https://m.b.example/2024/x", "https://notb.example/2024/x")
    *lines, summary = sites("test-rule", "1", *urls)[1]
    assert [line.split()[0] for line in lines] == ["match", "match", "no"]
    assert summary == (
        "matches 2 of 3 URLs; keep it: scrapy sites pin-rule 1, or change it: scrapy sites edit-rule 1 REGEX"
    )
    assert sites("test-rule", "2", "https://b.example/video/x")[1][-1].endswith(
        "the rule excludes them from articles; undo: scrapy sites remove-rule 2"
    )
    sites("pin-rule", "1")
    assert sites("test-rule", "1", urls[0])[1][-1] == ("matches 1 of 1 URLs; change it: scrapy sites edit-rule 1 REGEX")


def test_no_advice_is_given_before_a_page_was_fetched(sites, database):
    execute(database, update(page).where(page.c.url.endswith("/about")).values(state=0))
    assert sites("test-rule", "/about", "--site", "2")[1][-1] == (
        "matches 1 of 5 URLs of b.example: 0 documents, 1 not read; misses 2 of 2 documents"
    )


@pytest.mark.both_stores
def test_rule_is_tested_on_the_pages_of_the_store(sites, monkeypatch):
    _, lines, _ = sites("test-rule", "1", "--site", "b.example")
    assert lines == [
        "match, document        https://www.b.example/2024/a",
        "match, no document     https://www.b.example/2024/b",
        "no match, document     https://www.b.example/story/c",
        "no match, no document  https://www.b.example/about",
        "no match, no document  https://www.b.example/rss.xml",
        "matches 2 of 5 URLs of b.example: 1 documents; misses 1 of 2 documents; "
        "keep it: scrapy sites pin-rule 1, or change it: scrapy sites edit-rule 1 REGEX",
    ]
    sites("edit-rule", "1", "/about")
    monkeypatch.setattr(url_rule_trial, "SAMPLE", 1)
    forbid = "forbid what it matches: scrapy sites add-rule 2"
    edit = "scrapy sites forbid-rule 1, or change it: scrapy sites edit-rule 1 REGEX"
    for rule, counted, advice in (
        ("/nothing", "0 of 5 URLs of b.example: 0 documents; misses 2 of 2 documents", ""),
        ("/about", "1 of 5 URLs of b.example: 0 documents; misses 2 of 2 documents", f"{forbid} /about --weight 0"),
        ("1", "1 of 5 URLs of b.example: 0 documents; misses 2 of 2 documents", f"forbid it: {edit}"),
        ("/.+", "5 of 5 URLs of b.example: 2 documents; misses 0 of 2 documents", f"{forbid} /.+ --weight 0"),
    ):
        *_, more, summary = sites("test-rule", rule, "--site", "2")[1]
        assert summary == "; ".join(filter(None, (f"matches {counted}", advice)))
    assert more == "match                  … and 4 more"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["feeds", "x.example"], "'x.example' matches no seed"),
        (["add-feed", "1", "mailto:x"], "'mailto:x' is not a feed address"),
        (["add-feed", "1", "https://www.b.example/rss.xml"], "is already a feed of seed 2"),
        (["remove-feed", "1", "/rss"], "http://a.example/rss is not a feed of http://a.example; `scrapy sites feeds 1"),
        (["add-rule", "1", "/("], "'/(': RE2 cannot parse it"),
        (["add-rule", "1", ""], "'' matches no URL"),
        (["add-rule", "1", "/x", "--weight", "2"], "weight is '2', expected a number from 0"),
        (["pin-rule", "9"], "there is no rule 9; `scrapy sites rules` lists all"),
        (["pin-rule", "/x"], "'/x' is not the number of a rule"),
        (["pin-rule", "9" * 5000], "is not the number of a rule"),
        (["edit-rule", "1", "/video/.*"], "rule 2 of b.example already is '/video/.*'; pin that one and remove 1"),
        (["test-rule", "/("], "'/(': RE2 cannot parse it"),
        (["test-rule", "7", "http://a.example"], "there is no rule 7"),
        (["test-rule", "/x", "nofile"], "'nofile' is neither a URL nor a file"),
        (["test-rule", "/x", "--site", "1"], "the store has no pages of a.example; crawl it first"),
        (["test-rule", "/x", "http://a.example", "--site", "1"], "http://a.example and --site 1: give either URLs, or"),
    ],
)
def test_invalid_input_is_reported_in_one_sentence(sites, arguments, message):
    status, lines, errors = sites(*arguments)
    assert (status, lines, len(errors)) == (2, [], 1)
    assert errors[0].startswith("Error: ")
    assert message in errors[0]
    assert len(errors[0]) < 300
