"""What all spiders over listed sites share: the list, the tags, and room for parts of the user's own."""

import asyncio
import json
import re
from types import SimpleNamespace

import pytest
from scrapy.http import HtmlResponse, Request
from scrapy.settings import Settings

from crawlers.crawl.spec import open_run
from crawlers.errors import ConfigError
from crawlers.frontier.values import Lease
from crawlers.inputs.setting_readers import link_tags
from crawlers.items import LEASE
from crawlers.pages.response import LARGE_BYTES
from crawlers.spiders.base import COMPONENTS, LIST_FIELDS, PAGE_FIELDS, read_hosts
from crawlers.store.reader_threads import ReaderThreads
from tests.support.opened_crawl import crawler_of
from tests.support.plain_mission import PlainSpider
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

BODIES = {
    "/": links("/a", "/a", "http://b.example/x", "mailto:x@b.example", "/moved"),
    "/a": "<title>A</title>" + links("/", "/?x=1"),
}
OWN = '''
"""Parts that a user brings along."""

from dataclasses import replace

from scrapy import signals


class Downloads:
    def process_response(self, request, response):
        response.headers["X-Own"] = "seen"
        print("downloader", response.status)
        return response


class Outputs:
    async def process_spider_output(self, response, result):
        async for output in result:
            print("spider", type(output).__name__, response.headers["X-Own"].decode())
            yield output


class Items:
    def process_item(self, item):
        print("item", item.state.name)
        return replace(item, title=item.title.upper())


class Extension:
    @classmethod
    def from_crawler(cls, crawler):
        extension = cls()
        crawler.signals.connect(extension.closed, signals.spider_closed)
        return extension

    def closed(self, reason):
        print("closed", reason)
'''


def test_large_page_is_read_in_another_thread_with_the_same_result():
    spider = PlainSpider.from_crawler(crawler_of("sqlite://", PlainSpider), hosts="a.test")
    threads = ReaderThreads()
    spider.run = open_run(SimpleNamespace(spec=spider.spec, reader=threads))

    def parsed(body):
        lease = Lease(1, 1, 1, "http://a.test/", 0, 0, 0, None, 0.0)
        request = Request(lease.url, meta={LEASE: lease})
        return spider.parse(HtmlResponse(lease.url, 200, {"Content-Type": "text/html"}, body.encode(), request=request))

    async def only(pages):
        (page,) = [page async for page in pages]
        return page

    (small,) = parsed(BODIES["/a"])
    large = asyncio.run(only(parsed(f"{BODIES['/a']}<!-- {'x' * LARGE_BYTES} -->")))
    threads.close()
    assert (large.title, large.links, large.state) == (small.title, small.links, small.state)
    assert large.links


# The list


def sites(limits):
    return [one.site for one in limits]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("http://a.example", ["http://a.example"]),
        ("a.example,https://b.example:8443;1", ["http://a.example", "https://b.example:8443"]),
        ("http://127.0.0.1:8600;8;;0", ["http://127.0.0.1:8600"]),
        ("localhost,", ["http://localhost"]),
        ("example.invalid/docs", ["http://example.invalid"]),
        ("a.example/docs/index.html;2", ["http://a.example"]),
        ("http://a.example/sites.txt", ["http://a.example"]),
    ],
)
def test_hosts_may_be_the_sites_themselves(text, wanted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert sites(read_hosts(text)) == wanted


def test_file_wins_over_a_site_of_the_same_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.example").write_text("http://b.example", "utf-8")
    assert sites(read_hosts("a.example")) == ["http://b.example"]


@pytest.mark.parametrize("spider", ["plain", "wide"])
def test_without_sites_those_of_hosts_txt_are_crawled_and_one_line_says_so(spider, tmp_path):
    project = Project(tmp_path, SITE_DELAY_SECONDS=0, PAGE_BUDGET=1)
    with Web(a=pages({"/": "a"}), b=pages({"/": "b"})) as web:
        (tmp_path / "hosts.txt").write_text(web["a"].origin, "utf-8")
        ended = project.run("crawl", spider).done()
        assert ended.log.count(f"No sites are given: those of {tmp_path / 'hosts.txt'} are crawled") == 1
        given = project.run("crawl", spider, "-a", f"hosts={web['b'].origin}", CRAWL="given")
        assert "No sites are given" not in given.log
    assert set(project.query("SELECT site FROM site WHERE crawl_id = 1")) == {(web["a"].origin,)}
    assert set(project.query("SELECT site FROM site WHERE crawl_id = 2")) == {(web["b"].origin,)}


@pytest.mark.parametrize(
    "name",
    ["localhost", "hosts.txt", "../hosts", "/no/such/hosts.txt", "./x.y", "../x.d/hosts", "my.d/hosts", "hots.txt;2"],
)
def test_missing_file_is_one_sentence_that_says_where_it_was_looked_for(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.d").mkdir()
    message = f"hosts={re.escape(name)}: there is no such file.* write http:// in front of a site"
    with pytest.raises(ConfigError, match=message) as told:
        read_hosts(name)
    assert (str(tmp_path) in str(told.value)) == (not name.startswith("/"))


def test_folder_is_no_hosts_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hosts").mkdir()
    for name in ("hosts", str(tmp_path / "hosts")):
        with pytest.raises(ConfigError, match=f"hosts={name} is a folder; name a file in it"):
            read_hosts(name)


def test_file_that_is_not_utf_8_is_one_sentence(tmp_path):
    file = tmp_path / "hosts.txt"
    file.write_bytes("http://a.example # Köln".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"not UTF-8 text .* at byte 20.*; save it as UTF-8"):
        read_hosts(str(file))


# The tags


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("a", {"a"}),
        ("a,area,frame,iframe,meta", {"a", "area", "frame", "iframe", "meta"}),
        (" A , Frame ,", {"a", "frame"}),
        (["a", "meta"], {"a", "meta"}),
    ],
)
def test_link_tags_are_read_whatever_their_case_and_blanks(text, tags):
    assert link_tags(Settings({"LINK_TAGS": text})) == tags


@pytest.mark.parametrize(
    ("text", "named"), [("a,img", "img"), ("", "nothing"), (" , ", "nothing"), ("image,x", "image, x")]
)
def test_unknown_link_tags_are_named(text, named):
    with pytest.raises(ConfigError, match=f"LINK_TAGS names {named}; choose one of: a, area"):
        link_tags(Settings({"LINK_TAGS": text}))


# Parts of the user's own, and feeds


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """A crawl with a user's own parts and two feeds."""
    project = Project(tmp_path_factory.mktemp("own"))
    (project.folder / "own.py").write_text(OWN, "utf-8")
    with Web(site=pages(BODIES)) as web:
        outcome = project.crawl(
            web.hosts(),
            "-O",
            "pages.jsonl",
            "-O",
            "pages.csv",
            DOWNLOADER_MIDDLEWARES={"own.Downloads": 545},
            SPIDER_MIDDLEWARES={"own.Outputs": 545},
            ITEM_PIPELINES={"own.Items": 300},
            EXTENSIONS={"own.Extension": 0},
        ).done()
        yield project, web["site"].origin, outcome


def test_users_own_parts_work_beside_ours(crawled):
    project, _, outcome = crawled
    said = outcome.output.splitlines()
    assert said.count("downloader 200") == 2  # and 404 for robots.txt and two pages
    assert said.count("spider Page seen") == said.count("item DONE") + said.count("item REFUSED") == 4
    assert said[-1] == "closed finished"
    assert project.outcomes == [("finished", "finished")]


def test_what_the_users_pipeline_changes_is_stored(crawled):
    project, origin, _ = crawled
    assert project.query("SELECT title FROM page WHERE url = :url", url=f"{origin}/a") == [("A",)]
    assert project.query("SELECT title FROM page WHERE url = :url", url=f"{origin}/") == [("LINKS",)]


def test_feeds_have_every_response_as_json(crawled):
    project, origin, outcome = crawled
    assert "Traceback" not in outcome.log
    lines = (project.folder / "pages.jsonl").read_text("utf-8").splitlines()
    found = {page["url"]: page for page in map(json.loads, lines)}
    assert set(found) == {f"{origin}{path}" for path in ("/", "/a", "/moved", "/?x=1")}
    home, missing = found[f"{origin}/"], found[f"{origin}/moved"]
    assert list(home) == [*PAGE_FIELDS, *LIST_FIELDS]
    assert (home["state"], home["status"], home["level"], home["title"]) == ("done", 200, 0, "LINKS")
    assert home["links"] == [{"url": f"{origin}/a", "count": 2}, {"url": f"{origin}/moved", "count": 1}]
    (outside,) = home["external"]
    assert outside["url"] == "http://b.example/x"
    assert {"site", "anchor", "context", "position", "rel", "tag", "count"} == set(outside) - {"url"}
    assert home["bad"] == [{"raw": "mailto:x@b.example", "reason": "scheme mailto", "count": 1, "anchor": None}]
    assert (missing["state"], missing["reason"], missing["moved_to"]) == ("refused", "status 404", None)
    stored = project.query("SELECT content_hash FROM page WHERE url = :url", url=f"{origin}/")
    assert stored == [(home["content_hash"],)]


def test_feeds_have_every_response_as_csv(crawled):
    project, origin, _ = crawled
    rows = {row["url"]: row for row in project.table("pages.csv")}
    row = rows[f"{origin}/a"]
    assert (len(rows), list(row), row["state"], len(row["content_hash"])) == (4, [*PAGE_FIELDS], "done", 32)


# Signals

HEARD = """
from collections import Counter

from scrapy import signals

NAMES = (
    "request_reached_downloader", "headers_received", "bytes_received", "response_downloaded",
    "request_left_downloader", "response_received", "item_scraped",
)


class Heard:
    @classmethod
    def from_crawler(cls, crawler):
        extension = cls()
        extension.stats, extension.heard, extension.listeners = crawler.stats, Counter(), []
        for name in NAMES:
            def listen(request=None, response=None, name=name):
                url = (request or response.request).url
                extension.heard[name, url[url.index("/", 8):]] += 1
            extension.listeners.append(listen)
            crawler.signals.connect(listen, getattr(signals, name))
        crawler.signals.connect(extension.closed, signals.spider_closed)
        return extension

    def closed(self):
        for (name, path), number in sorted(self.heard.items()):
            print("heard", name, path, number)
        for name, number in sorted(self.stats.get_stats().items()):
            if name.startswith(("downloader/", "item_", "response_")) and "bytes" not in name:
                print("stat", name, number)


class Deaf(Heard):
    @classmethod
    def from_crawler(cls, crawler):
        extension = cls()
        extension.stats, extension.heard = crawler.stats, Counter()
        crawler.signals.connect(extension.closed, signals.spider_closed)
        return extension


class Nothing:
    def process_request(self, request):
        print("middleware", request.url)
"""


def test_signals_and_stats_are_those_of_scrapy_whether_a_middleware_sees_the_requests_or_not(tmp_path):
    said = []
    with Web(site=pages(BODIES)) as web:
        whole = {"DOWNLOADER_MIDDLEWARES": {"heard.Nothing": 300}}
        for name, kind, given in (("short", "Heard", {}), ("whole", "Heard", whole), ("direct", "Deaf", {})):
            project = Project(tmp_path / name)
            (project.folder / "heard.py").write_text(HEARD, "utf-8")
            outcome = project.crawl(web.hosts(), EXTENSIONS={f"heard.{kind}": 0}, **given).done()
            assert "Traceback" not in outcome.log
            said.append(outcome.output.splitlines())
    short, whole, direct = ([line for line in lines if line.startswith(("heard", "stat"))] for lines in said)
    assert short == whole
    assert direct == [line for line in whole if line.startswith("stat")]
    assert "heard item_scraped /a 1" in short
    assert "heard headers_received /robots.txt 1" in short
    assert "stat downloader/response_status_count/200 2" in short
    assert [any(line.startswith("middleware") for line in lines) for lines in said] == [False, True, False]


BROKEN = """
from crawlers.crawl.leasing import PageRecording
from crawlers.pages.response import ResponseReader


def broken(method, name):
    def call(self, what, *arguments):
        if what.url.endswith("/a"):
            raise RuntimeError(f"{name} is broken")
        return method(self, what, *arguments)
    return call


class Reading:
    def __init__(self):
        ResponseReader.read = broken(ResponseReader.read, "reading")


class Recording:
    def __init__(self):
        PageRecording.record_numbered = broken(PageRecording.record_numbered, "recording")
"""


@pytest.mark.parametrize("is_direct", [True, False])
def test_page_that_cannot_be_read_fails_and_the_crawl_goes_on(tmp_path, is_direct):
    project = Project(tmp_path)
    (project.folder / "broken.py").write_text(BROKEN, "utf-8")
    with Web(site=pages(BODIES)) as web:
        settings = {"EXTENSIONS": {"broken.Reading": 0}, "LOG_LEVEL": "INFO" if is_direct else "DEBUG"}
        outcome = project.crawl(web.hosts(), **settings)
        assert (outcome.status, project.outcomes) == (0, [("finished", "finished")])
        assert "Spider error processing <GET " in outcome.log
        failed = project.query("SELECT reason FROM page WHERE url LIKE '%/a'")
        assert failed == [("spider_failed error RuntimeError reading is broken",)]


def test_page_that_cannot_be_recorded_ends_the_crawl(tmp_path):
    project = Project(tmp_path)
    (project.folder / "broken.py").write_text(BROKEN, "utf-8")
    with Web(site=pages(BODIES)) as web:
        outcome = project.crawl(web.hosts(), EXTENSIONS={"broken.Recording": 0})
        assert (outcome.status, project.outcomes[0][0]) == (1, "interrupted")
        assert "/a can't be recorded: RuntimeError recording is broken; please report it" in outcome.log


LOSING = """
class Losing:
    def process_item(self, item):
        return item if item.level == 0 else None
"""


def test_pages_that_a_pipeline_loses_end_the_crawl_with_an_error(tmp_path):
    project = Project(tmp_path)
    (project.folder / "losing.py").write_text(LOSING, "utf-8")
    with Web(site=pages(BODIES)) as web:
        outcome = project.crawl(web.hosts(), ITEM_PIPELINES={"losing.Losing": 300})
        assert (outcome.status, project.outcomes[0][0]) == (1, "interrupted")
        assert "but no Page was recorded; a spider, middleware or pipeline must return each Page" in outcome.errors[0]
        assert project.crawl(web.hosts()).status == 0
        assert project.outcomes == [("finished", "finished")]


def test_mission_with_the_scheduler_of_scrapy_is_refused(tmp_path):
    outcome = Project(tmp_path).crawl("http://127.0.0.1:9", SCHEDULER="scrapy.core.scheduler.Scheduler")
    assert outcome.status == 2
    assert outcome.errors == [
        "Error: SCHEDULER=scrapy.core.scheduler.Scheduler: scrapy crawl plain needs that of this project; remove "
        "the setting"
    ]


def test_add_ons_of_users_leave_that_which_chooses_components():
    settings = Settings({"ADDONS": '{"mine.AddOn": 5}'})
    PlainSpider.update_settings(settings)
    assert settings.getdict("ADDONS") == {"mine.AddOn": 5, COMPONENTS: 0}
