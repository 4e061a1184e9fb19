"""The history of a URL of each kind: what is true now, and what happened, in order of time."""

import json
from pathlib import Path

import pytest
from sqlalchemy import delete, insert, update

from crawlers.items import State
from crawlers.reasons import sentence
from crawlers.reports.crawl_manifest import crawl_rules
from crawlers.reports.histories.history import history_lines
from crawlers.reports.histories.linking_pages import linking_facts
from crawlers.reports.histories.url_history import subject_of, url_history
from crawlers.store.reading import crawls
from crawlers.store.reading.crawl_settings import claimed_folder
from crawlers.store.reading.queries import crawl_named, crawl_numbered
from crawlers.store.reading.run_command import Command
from crawlers.store.schema.tables import (
    BadLinkRow,
    ExternalLinkRow,
    ExternalUrlRow,
    LinkAnchorRow,
    LinkContextRow,
    SettingRow,
    SitemapRow,
    SitemapUrlRow,
    crawl,
    message,
    page,
    site,
    worker,
)
from crawlers.store.sites.site_opening import SiteList, SiteRow
from crawlers.urls.keys import url_key
from crawlers.urls.resolution import resolve
from tests.support.stored_pages import add_links, add_page
from tests.support.stored_rows import begin, execute, write_rows

SITE = "http://a.test"
ROBOTS = "User-agent: crawlers\nDisallow: /secret/\nDisallow: /secret/x\nAllow: /\n"


def time(second):
    return f"1970-01-01 00:00:{second:02}+00:00"


class Stored:
    """A crawl whose home page is page 1."""

    def __init__(self, database):
        self.database = database
        settings = {"USER_AGENT": "crawlers/1", "RESULT_FOLDER": "out", "WARC_FILE": "all.warc.gz", "PAGE_BUDGET": 0}
        manifest = {"settings": settings, "further_settings": {"GRAPH_FORMATS": ["gexf"]}}
        sites = SiteList([SiteRow(0, SITE, 1, 3, 0.0)])
        begun = crawls.begin(database, Command("mine", "sitegraph", manifest, sites), 0.0)
        self.id, self.site = begun.id, begun.sites[0].id
        self.change(site, robots_status=200, robots_text=ROBOTS, robots_at=1.0)
        self.add(1, "/", level=0, found_on=None)

    def add(self, number, path, **columns):
        url = path if "://" in path else SITE + path
        found = {"found_on": 1, "found_at": 3.0, "fetched_at": 5.0, "state_at": 6.0, "status": 200, "attempts": 1}
        found |= {"content_type": "text/html", "size_bytes": 9, "content_hash": f"{number:032x}"} | columns
        key = resolve(url.replace("www.", ""), "").key  # the pages of a site have the keys of its name
        add_page(self.database, number, self.site, url, key=key, **found)

    def wait(self, number, path, **columns):
        fetched = {"fetched_at": None, "status": None, "attempts": 0, "content_hash": None, "state": State.WAITING}
        self.add(number, path, **{**fetched, **columns})

    def change(self, table, **columns):
        execute(self.database, update(table).values(**columns))

    def history(self, text):
        text = SITE + text if text.startswith("/") else text
        named = crawl_named(self.database, "mine")
        rules = crawl_rules({"USER_AGENT": "crawlers/1", "RULE": "roundrobin"})
        return url_history(self.database, named, text, rules, 100.0, lambda: False)

    def lines(self, text):
        found = self.history(text)
        return history_lines(found.with_facts(*linking_facts(self.database, self.id, found.subject, lambda: False)))


@pytest.fixture
def stored(database):
    return Stored(database)


@pytest.mark.both_stores
def test_page_that_was_read_has_facts_and_then_events_in_order_of_time(stored):
    stored.add(2, "/x", title="A title")
    add_links(stored.database, (1, 2, 2), (2, 1, 1))
    write_rows(stored.database, LinkAnchorRow(1, 2, "To x"))
    assert stored.lines("/x") == [
        f"{SITE}/x",
        f"  page, since {time(6)}",
        f"  in crawl mine (number {stored.id}), level 1, page 2",
        f"  known as {SITE}/x/",
        "  title: A title",
        "  no other page has the same content",
        "  linked to 2 times from 1 page",
        f'    as "To x" on {SITE}/',
        "  its links in the store: 1 within the crawl, 0 external links and 0 bad links",
        "  in the graph of its site: out/a.test.gexf when the crawl has ended",
        "  request and response in all.warc.gz",
        f'  {time(3)} found on {SITE}/ as "To x"',
        f"    normal form, add_trailing_slash: {SITE}/x/",
        f"  {time(5)} requested, attempt 1: status 200, text/html, 9 bytes",
    ]


@pytest.mark.parametrize("formats", [[], ["csv", "graphml"]])
def test_graph_file_is_named_only_if_the_crawl_writes_one(stored, formats):
    stored.add(2, "/x")
    assert any("out/a.test.gexf" in line for line in stored.lines("/x"))
    stored.change(crawl, manifest=json.dumps({"further_settings": {"GRAPH_FORMATS": formats}}))
    assert not any("gexf" in line for line in stored.lines("/x"))


def test_workers_that_joined_others_have_files_of_their_own(stored):
    stored.add(2, "/x")
    row = {"crawl_id": stored.id, "machine": "m", "process": 1, "version": "1", "state": "left", "beat_at": 9.0}
    times = [(1001, 1.0, 20.0), (1002, 10.0, 30.0), (1003, 40.0, 50.0), (1004, 45.0, None)]
    execute(stored.database, delete(worker))
    rows = [{**row, "id": number, "joined_at": joined, "ended_at": ended} for number, joined, ended in times]
    execute(stored.database, insert(worker), rows)
    names = "all.warc.gz, all.1002.warc.gz, all.1004.warc.gz"
    assert f"  request and response in one of 3 files of workers: {names}" in stored.lines("/x")


def test_many_copies_are_not_compared(stored, monkeypatch):
    monkeypatch.setattr("crawlers.reports.histories.url_history.MAX_COMPARED", 2)
    for number in range(2, 6):
        stored.add(number, f"/{number}/", content_hash="ab")
    assert "  more than 2 URLs of its site have the same content" in stored.lines("/3/")


@pytest.mark.both_stores
@pytest.mark.parametrize("text", ["/x/", "/y/", "/waiting/", "/never/", "http://b.test/", "mailto:somebody"])
def test_subject_is_that_of_the_history(stored, text):
    stored.add(2, "/x/", content_hash="ab")
    stored.add(3, "/y/", content_hash="ab")
    stored.wait(4, "/waiting/")
    outside = ExternalUrlRow(url_key("http://b.test/"), "http://b.test", "http://b.test/", 0)
    link = ExternalLinkRow(1, outside.id, 1, 1)
    write_rows(stored.database, outside, LinkContextRow(1, "", "", "", "", "a"), link)
    url = f"{SITE}{text}" if text.startswith("/") else text
    named = crawl_named(stored.database, "mine")
    subject = subject_of(stored.database, named, url, crawl_rules({}).normalization)
    assert subject == stored.history(url).subject


def test_redirect_has_its_chain_and_its_target_the_redirect(stored):
    stored.add(2, "/old/", state=State.MOVED, status=301, moved_to=3, content_hash=None)
    stored.add(3, "/new/", state=State.MOVED, status=302, moved_to=4, content_hash=None)
    stored.add(4, "/newest/", state=State.REFUSED, status=404, reason="status 404", content_hash=None)
    lines = stored.lines("/old/")
    assert f"  redirects to {SITE}/new/" in lines
    assert lines[-3:] == [
        f"  {time(6)} redirects",
        f"    to {SITE}/new/: redirect, status 302",
        f"    to {SITE}/newest/: error, status 404",
    ]
    lines = stored.lines("/newest/")
    assert f"  redirects lead to it from {SITE}/new/" in lines
    assert lines[-1] == f"  {time(6)} error: status 404"


@pytest.mark.both_stores
def test_loop_of_redirects_ends(stored):
    stored.add(2, "/a/", state=State.MOVED, status=301, moved_to=3, content_hash=None)
    stored.add(3, "/b/", state=State.MOVED, status=301, moved_to=2, content_hash=None)
    assert stored.lines("/a/")[-1] == "    which is a loop"


def remedies(stored, path, reason):
    stored.wait(2, path, state=State.REJECTED, reason=reason)
    lines = stored.lines(path)
    assert f"  not requested: {sentence(reason)}, since {time(6)}" in lines
    assert not [one for one in lines if " requested, attempt" in one]
    return [one.strip() for one in lines[lines.index(f"  {time(6)} not requested: {sentence(reason)}") + 1 :]]


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("extension pdf", "to fetch such URLs, remove the extension from IGNORED_EXTENSIONS and begin another crawl"),
        ("too_deep 4 3", "to fetch it, give its site a higher limit, or MAX_LEVEL, and run the same command again"),
        ("trap_content 9 /#/", "to fetch such URLs nevertheless, set TRAPS_ENABLED=0 and begin another crawl"),
    ],
)
def test_url_that_was_rejected_has_the_filter_and_the_remedy(stored, reason, remedy):
    assert remedies(stored, "/x/", reason) == [remedy]


@pytest.mark.parametrize(
    ("path", "says"), [("/secret/x.html", 'says "Disallow: /secret/x" to crawlers'), ("/open.html", "allows it now")]
)
def test_url_that_robots_txt_disallows_has_what_it_says_now(stored, path, says):
    assert remedies(stored, path, "robots_disallows") == [
        "only who runs the site can change that; ROBOTSTXT_OBEY=0 is for sites of your own",
        f"its robots.txt, read {time(1)}, {says}",
    ]


NOT_READ = "waits until the robots.txt of its site can be read, which was not possible"


@pytest.mark.parametrize(
    ("table", "columns", "why"),
    [
        (site, {"robots_status": None}, "waits for the robots.txt of its site, which was not read yet"),
        (site, {"robots_status": 503}, f"{NOT_READ}: status 503"),
        (site, {"robots_status": 0, "robots_text": "timeout"}, f"{NOT_READ}: timeout"),
        (site, {"rest_until": 200.0}, "nothing is requested of its site until 1970-01-01 00:03:20+00:00"),
        (site, {"rest_until": 50.0}, "waits for its turn"),
        (page, {"retry_at": 59.0, "reason": "timeout"}, f"waits for another attempt, not before {time(59)}"),
        (site, {"worker_id": None}, "waits until a worker takes its site"),
        (site, {"availability": "status 500"}, "its site is not available: status 500"),
        (site, {"is_open": False}, "its site is missing from the list of sites of the latest run; add it to go on"),
        (crawl, {"control": "pause"}, "waits because the crawl is paused"),
        (crawl, {"control": "stop"}, "waits because the crawl is being stopped"),
        (crawl, {"state": "interrupted"}, "waits until the crawl goes on: the command that began it resumes it"),
        (crawl, {"state": "finished"}, "the crawl is finished; the same command begins another one"),
    ],
)
def test_waiting_url_says_what_it_waits_for(stored, table, columns, why):
    stored.wait(2, "/first/", priority=1.0)
    stored.wait(3, "/second/", priority=2.0)
    stored.change(site, worker_id=7)
    stored.change(crawl, state="running")
    stored.change(table, **columns)
    lines = stored.lines("/second/")
    place = lines.index("  1 URL of its site comes before it in its queue")
    assert lines[place - 1] == f"  {why}"


@pytest.mark.both_stores
def test_used_up_budget_is_named(stored):
    write_rows(stored.database, SettingRow(stored.id, "PAGE_BUDGET", "5"))
    stored.change(crawl, earlier_pulls=5)
    stored.wait(2, "/x/")
    expected = "  the budget of 5 pages is used up; resume the crawl with a larger PAGE_BUDGET"
    assert expected in stored.lines("/x/")
    stored.change(crawl, state="interrupted")
    lines = stored.lines("/x/")
    assert expected in lines
    assert not any("the command that began it resumes it" in line for line in lines), "it would end at once"


def test_external_url_of_another_crawl_was_never_found(stored):
    begun = begin(stored.database, SITE, name="earlier", mission="sitegraph")
    url = f"{SITE}/there/"
    add_page(stored.database, 9, begun.sites[0].id, url, key=resolve(url, "").key, fetched_at=5.0)
    rows = [ExternalUrlRow(url_key(url), SITE, url, url_key(url)), LinkContextRow(1, "", "", "", "", "a")]
    write_rows(stored.database, *rows, ExternalLinkRow(9, url_key(url), 1, 1))
    lines = stored.lines(url)
    assert lines[1] == f"  never found in the crawl mine (number {stored.id})"
    assert f"  found in the crawl earlier (number {begun.id}): add --crawl {begun.id}" in lines
    write_rows(stored.database, ExternalLinkRow(1, url_key(url), 1, 1))
    assert stored.lines(url)[1] == "  external: its site is not part of the crawl; not followed"


def test_page_is_in_the_graph_of_a_crawl_that_has_ended_unless_a_later_one_replaced_it(stored):
    def lines():
        named = crawl_numbered(stored.database, stored.id)
        found = url_history(stored.database, named, f"{SITE}/", crawl_rules({}), 100.0, lambda: False)
        return [one for one in history_lines(found) if "graph of its site" in one]

    stored.change(crawl, state="finished")
    claimed_folder(stored.database, stored.id, Path("out"))
    later = begin(stored.database, SITE, name="mine", mission="sitegraph")
    assert lines() == ["  in the graph of its site: out/a.test.gexf"]
    claimed_folder(stored.database, later.id, Path("out"))
    assert lines() == []


def test_bad_link_has_its_reason_and_its_pages(stored):
    write_rows(stored.database, BadLinkRow(1, "mailto:x@y.test", "other_scheme mailto", 2, "write"))
    assert stored.lines("mailto:x@y.test") == [
        "mailto:x@y.test",
        "  a bad link: scheme mailto; not followed",
        f"  in crawl mine (number {stored.id})",
        "  linked to 2 times from 1 page",
        f'    as "write" on {SITE}/',
    ]


def test_unknown_url_says_what_to_do(stored):
    assert stored.lines("/never/") == [
        f"{SITE}/never/",
        f"  never found in the crawl mine (number {stored.id})",
        f"  known as {SITE}/never/",
        "  no page of its site that was read links to it; if nothing does, name it as the start URL of the site in "
        "the list of sites",
    ]
    for url, remedy in (
        ("c.test/x/", "its site http://c.test/ is not part of the crawl; add it to the list of sites to crawl it"),
        ("a.test:8080/x", "the crawl has another site of this host, http://a.test/; begin the URL with that"),
    ):
        assert stored.lines(url)[3] == f"  {remedy}"
    stored.wait(2, "/x/")
    assert stored.lines("/secret/never/")[3:] == [
        "  1 URL of its site waits; it may link to it",
        f'  its robots.txt, read {time(1)}, says "Disallow: /secret/" to crawlers',
    ]


def test_url_that_waits_for_the_worker_of_its_site_says_so(stored):
    target = resolve(f"{SITE}/sent/", "")
    row = {"crawl_id": stored.id, "site_id": stored.site, "source_id": 1, "key": target.key, "url": target.url}
    row |= {"level": 1, "hops": 0, "count": 1, "value": 0.0, "carried": 0.0, "sent_at": 9.0}
    execute(stored.database, insert(message), row)
    expected = f"  {SITE}/ links to it since {time(9)}, but the worker of its site has not taken that up yet"
    assert expected in stored.lines("/sent/")


def test_address_of_another_host_belongs_to_its_site(stored):
    stored.change(site, aliases="http://www.a.test")
    stored.add(2, "http://www.a.test/x/")
    lines = stored.lines("http://www.a.test/x/")
    assert f"  known as {SITE}/x/" in lines
    assert f"    its address belongs to the site {SITE}/" in lines


def test_history_of_a_deleted_page_that_held_the_link_has_its_number(stored):
    stored.add(2, "/x/", found_on=77, duplicates=2)
    assert f"  {time(3)} found on page 77" in stored.lines("/x/")
    assert "  represents 2 further URLs with the same content, whose rows were deleted" in stored.lines("/x/")


def test_sitemap_that_lists_a_url_is_said_of_pages_and_of_orphans(stored):
    stored.add(2, "/a")
    row = SitemapRow(stored.site, 5, f"{SITE}/s.xml", SITE, 0, None, 1, 200, "sitemap", None, 2, 0, 0, 4.0)
    listed = [SitemapUrlRow(stored.site, resolve(SITE, path).key, SITE + path, 5, 1.0) for path in ("/a", "/orphan")]
    write_rows(stored.database, row, *listed)
    for path in ("/a", "/orphan"):
        lines = stored.lines(path)
        assert f"  {time(4)} listed in the sitemap {SITE}/s.xml" in lines
        assert f"last change, as listed: {time(1)}" in [one.strip() for one in lines]
    assert "  never found in the crawl mine (number 1)" in stored.lines("/orphan")
    assert "listed in the sitemap" not in "".join(stored.lines("/"))
