"""The outputs of a news crawl: iterations, alarms, documents in feed exports, Parquet, WARC and charts."""

import csv
import json
import sqlite3
import time
from contextlib import closing

import pytest
from scrapy.crawler import Crawler
from scrapy.spiders import Spider

from crawlers.errors import ConfigError
from crawlers.extensions.warc import Warc
from crawlers.missions.news.edge.news_extensions import NewsOutputs
from crawlers.spiders.news import NewsSpider
from tests.support.running import Project
from tests.support.sites.server import Web

parquet = pytest.importorskip("pyarrow.parquet")
archive = pytest.importorskip("warcio.archiveiterator")

SETTINGS = {"SITE_DELAY_SECONDS": 0, "EXTRACTION_PROCESSES": 1, "NEWS_ONCE": 1, "NEWS_ITERATION_PAGES": 3}
FILES = {"DOCUMENTS_PARQUET": "out/documents.parquet", "WARC_FILE": "out/crawl.warc.gz"}
TOPICS = ("ferry", "school", "garden")
WORDS = ("has", "had", "a", "long", "day", "and", "so", "on")  # no two stories share a sentence: they would be copies
FIELDS = [
    "url", "canonical_url", "title", "text", "published", "authors", "section", "language", "image", "site",
    "stored_at", "version", "extractor", "description", "keywords", "modified", "is_free",
]  # fmt: skip


def url_history(number):
    text = "".join(
        f"<p>The {TOPICS[number]}: {' '.join(f'{TOPICS[number]}{n}{word}' for word in WORDS)}.</p>" for n in range(9)
    )
    return (
        f"<html lang=en><head><title>About the {TOPICS[number]}</title><meta property=og:type content=article>"
        f"<meta property='article:published_time' content='2026-11-0{number + 1}T08:00:00+01:00'></head>"
        f"<body><article><h1>About the {TOPICS[number]}</h1>{text}</article></body></html>"
    )


async def paper(exchange):
    if exchange.path == "/":
        links = "".join(f"<a href=/story-{n}.html>{topic}</a> " for n, topic in enumerate(TOPICS))
        await exchange.page(f"<title>Paper</title><a href=/about.html>us</a> {links}")
    elif exchange.path.startswith("/story-"):
        await exchange.page(url_history(int(exchange.path[7])))
    elif exchange.path == "/about.html":
        await exchange.page("<title>About</title><p>We write.")
    else:
        await exchange.page("nothing", 404)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """A crawl of a small paper that failed because of an alarm, as an earlier run might leave one."""
    project = Project(tmp_path_factory.mktemp("news"), **SETTINGS)
    with Web(paper=paper) as web:
        origin = web["paper"].origin
        sources = {"sources": [{"site": origin, "rules": [r"/story-\d\.html"]}]}
        (project.folder / "sources.yaml").write_text(json.dumps(sources), "utf-8")
        line = ("crawl", "news", "-a", "sources=sources.yaml", "-O", "documents.jsonl")
        first = project.run(*line, **FILES)
        spoil(project)
        again = project.run(*line[:-2], "-O", "documents.csv", **FILES, NEWS_FAIL_ON_ALARM=1, NEWS_ITERATION_PAGES=1000)
        yield project, origin, first, again


def spoil(project):
    """Let the home page be a feed that has failed for days."""
    with closing(sqlite3.connect(project.folder / "crawl.sqlite")) as connection, connection:
        connection.execute("UPDATE page SET fetched_at = ? WHERE level = 0", (time.time() - 3 * 86_400,))
        connection.execute("UPDATE poll SET kind = 'feed', failures = 5, due_at = due_at + 900, problem = 'timeout'")


def test_feeds_hold_documents_only(crawled):
    project, origin, first, _ = crawled
    assert first.status == 0, first.log
    lines = [json.loads(line) for line in (project.folder / "documents.jsonl").read_text("utf-8").splitlines()]
    assert sorted(line["url"] for line in lines) == [f"{origin}/story-{n}.html" for n in range(3)]
    (line,) = (line for line in lines if "ferry" in line["title"])
    assert list(line) == FIELDS
    assert (line["title"], line["site"], line["version"], line["language"]) == ("About the ferry", origin, 1, "en")
    assert line["published"] == "2026-11-01T08:00:00+01:00"
    assert "ferry8long ferry8day" in line["text"]
    assert line["stored_at"].endswith("+00:00")


def test_run_without_new_documents_writes_an_empty_feed(crawled):
    with (crawled[0].folder / "documents.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file)) == []


def test_iterations_continue_over_runs_and_are_drawn(crawled):
    project, _, first, _ = crawled
    rows = project.query("SELECT number, fit, not_fit, polls, errors, documents FROM iteration ORDER BY number")
    fetched = project.query("SELECT count(*) FROM page WHERE fetched_at IS NOT NULL")[0][0]
    assert sum(sum(row[1:5]) for row in rows) == fetched
    assert (sum(row[1] for row in rows), sum(row[5] for row in rows)) == (3, 3)
    assert first.log.count("INFO: Iteration 1: 3 downloads in") == 1
    assert "3 documents in total; drawn in result/news.svg" in first.log
    drawn = (project.folder / "result" / "news.svg").read_text("utf-8")
    assert ">news “news”</text>" in drawn
    assert all(f">{title}</text>" in drawn for title in ("Downloads of each iteration", "New documents of each day"))


def test_alarm_is_a_row_a_warning_and_an_exit_status(crawled):
    project, origin, first, again = crawled
    assert "Alarm, " not in first.log
    assert "3 articles, 3 of them new in this run" in first.log
    assert "Open alarms: 2, listed by scrapy sites alarms" in again.log
    assert again.status == 1
    assert f"WARNING: Alarm, dead feed: {origin}/: timeout" in again.log
    assert again.errors == [
        "Error: NEWS_FAIL_ON_ALARM: 2 open alarms; see the warnings above and `scrapy sites alarms`. "
        "Everything is stored, and the same command continues the crawl"
    ]
    assert project.query("SELECT kind, subject, ended_at FROM alarm") == [
        ("dead feed", f"{origin}/", None),
        ("source unreachable", origin, None),
    ]


def test_parquet_has_all_documents(crawled):
    project, _, first, again = crawled
    table = parquet.read_table(project.folder / "out" / "documents.parquet")
    assert sorted(table["title"].to_pylist()) == [f"About the {topic}" for topic in sorted(TOPICS)]
    assert [run.log.count("news: 3 documents in out/documents.parquet") for run in (first, again)] == [1, 1]


def test_warc_has_every_response_and_names_the_reconstructed_parts(crawled):
    project, origin, *_ = crawled
    with (project.folder / "out" / "crawl.warc.gz").open("rb") as stream:
        found = [
            (one.rec_type, one.rec_headers.get_header("WARC-Target-URI"), one.content_stream().read())
            for one in archive.ArchiveIterator(stream, check_digests="raise")
        ]
    responses = {url: body for kind, url, body in found if kind == "response"}
    stored = {url for (url,) in project.query("SELECT url FROM page WHERE fetched_at IS NOT NULL")}
    assert set(responses) == {*stored, f"{origin}/robots.txt"}
    assert responses[f"{origin}/story-1.html"] == url_history(1).encode()
    assert found[0][0] == "warcinfo"
    assert b"bodies are decoded" in found[0][2]
    assert len([one for one in found if one[0] == "request"]) == len([one for one in found if one[0] == "response"])


# Other spiders, and what the user got wrong


def test_file_that_cannot_be_written_is_an_error_before_the_crawl(tmp_path):
    (tmp_path / "file").touch()
    bad = str(tmp_path / "file" / "x")
    for output, spider, setting, path in (
        (Warc, Spider(name="x"), "WARC_FILE", f"{bad}.warc.gz"),
        (NewsOutputs, NewsSpider(), "DOCUMENTS_PARQUET", f"{bad}.parquet"),
        (NewsOutputs, NewsSpider(), "RESULT_FOLDER", bad),
    ):
        made = Crawler(Spider, {"WARC_FILE": "", "DOCUMENTS_PARQUET": "", setting: path})
        made.spider = spider
        with pytest.raises(ConfigError, match=f"^{setting}=.* can't be written"):
            output.from_crawler(made)
