"""The summary of a crawl says in some ten lines what was found, what was not, and what to do next."""

import os

import pytest
from sqlalchemy import update

from crawlers.items import State
from crawlers.reasons import sentence
from crawlers.reports.crawl_summary import MAX_SITES
from crawlers.store.schema.tables import (
    SiteAvailability,
    site,
    worker,
)
from crawlers.store.worker_rows import PAUSE
from crawlers.workers.worker_table import set_control
from tests.support.stored_rows import begin, execute, write_rows
from tests.support.summaries import Stored

pytestmark = pytest.mark.usefixtures("plain_missions")


def test_sites_links_duplicates_errors_and_reasons_are_counted(database):
    crawl = Stored(database, "a.test", "b.test")
    crawl.page("a.test/", links=3, content="00" * 16)
    crawl.page("a.test/copy", content="00" * 16)
    crawl.page("a.test/gone", State.REFUSED, 404, "status 404")
    crawl.page("a.test/also", State.REFUSED, 404, "status 404")
    crawl.page("a.test/paper", State.REFUSED, 200, "content_type application/pdf")
    crawl.page("a.test/slow", State.FAILED, 0, "timeout")
    crawl.page("a.test/room?desk=1", State.REJECTED, None, "trap_content 12 /room?desk=#")
    crawl.page("a.test/moved", State.MOVED, 301)
    crawl.page("b.test/", links=1)
    store = os.path.relpath(database.path) if database.path else database.name
    assert crawl.summary() == [
        "Crawl mine is finished: 3 pages with 4 links on 2 sites, in 83 s",
        "",
        "  site    pages  links  errors  duplicates",
        "  a.test      2      3       3           1",
        "  b.test      1      1       0           0",
        "",
        "Errors: status 404 (2), timeout (1)",
        "Not pages: content type application/pdf (1)",
        "Not requested: trap (1)",
        "Redirects: 1",
        "Cut: a.test: trap: 12 pages like /room?desk=# repeat the same content: 1 URL not read; TRAPS_ENABLED=0 reads "
        "them",
        "Files: result/a.test.gexf",
        f"Everything is in {store}; errors: logs/error_log.csv",
        "To see why a URL is missing: scrapy explain http://a.test/also",
        "For other formats of the graph: scrapy graph --format csv --format graphml",
    ]


def test_of_many_sites_the_largest_are_shown_and_the_others_are_summed(database):
    names = [f"s{n:02}.test" for n in range(40)]
    crawl = Stored(database, *names, "empty.test")
    for n, name in enumerate(names):
        for number in range(n % 10 + 1):
            crawl.page(f"{name}/{number}")
    lines = crawl.summary()
    assert [line.split()[0] for line in lines[3 : 3 + MAX_SITES]] == [f"s{n}.test" for n in ("09", 19, 29, 39, "08")]
    assert lines[3 + MAX_SITES].split() == ["36", "more", "sites", str(4 * 55 - 49), "0", "0", "0"]
    assert lines[0] == "Crawl mine is finished: 220 pages with 0 links on 40 of 41 sites, in 83 s"
    assert len(lines) < 15


def test_sites_that_are_not_available_are_named_with_their_reasons(database):
    crawl = Stored(database, *(f"dead{n}.test" for n in range(5)), "a.test")
    crawl.page("a.test/")
    for n in range(5):
        write_rows(database, SiteAvailability(crawl.sites[f"dead{n}.test"], "connection_refused"))
    lines = crawl.summary()
    assert "http://dead0.test: not reachable: connection refused" in lines
    assert "Problems: 2 more sites" in lines
    assert not any(line.startswith("  dead") for line in lines)


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("shutdown", "run the same command again"),
        ("timeout", "run the same command again"),
        ("page_budget", "run the same command with a larger PAGE_BUDGET; CRAWL=name begins another crawl"),
        ("stop_file", "remove stop.txt, then run the same command again"),
    ],
)
def test_stopped_crawl_can_be_resumed_and_the_summary_says_how(database, reason, remedy):
    crawl = Stored(database, "a.test")
    crawl.page("a.test/")
    crawl.page("a.test/later", State.WAITING)
    lines = crawl.summary(finished=False, reason=reason)
    assert lines[0].startswith(f"Crawl mine stopped ({sentence(reason)}): 1 page with 0 links on 1 site")
    assert "Waiting: 1" in lines
    assert f"To resume: {remedy}" in lines


@pytest.mark.both_stores
def test_crawl_that_was_paused_when_it_stopped_says_so(database):
    stored = Stored(database, "a.test")
    set_control(database, stored.row.id, PAUSE)
    sentence = "The crawl was paused when it stopped; the next run goes on without a pause"
    assert sentence in stored.summary(finished=False, reason="shutdown")
    assert sentence not in stored.summary()


def test_suggested_command_can_be_pasted_into_a_shell_and_names_the_crawl_if_another_is_the_latest(database):
    crawl = Stored(database, "a.test")
    crawl.page("a.test/gone?a=1&b=2", State.REFUSED, 404, "status 404")
    assert "To see why a URL is missing: scrapy explain 'http://a.test/gone?a=1&b=2'" in crawl.summary()
    begin(database, "http://a.test", name="later", mission="plain", now=150.0)
    lines = crawl.summary(finished=False, reason="page_budget")
    assert "To see why a URL is missing: scrapy explain --crawl mine 'http://a.test/gone?a=1&b=2'" in lines


@pytest.mark.both_stores
def test_crawl_that_ended_without_the_sites_that_wait_says_how_to_resume(database):
    crawl = Stored(database, "a.test", "b.test")
    crawl.page("a.test/")
    crawl.page("b.test/later", State.WAITING)
    execute(database, update(site).where(site.c.site == "http://b.test").values(is_open=False))
    lines = crawl.summary(finished=False)
    assert lines[0].startswith("Crawl mine ended: ")
    assert "To resume: add the sites that are missing from the host list, then run the same command again" in lines


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("page_budget", "Nothing was left to do in this run: PAGE_BUDGET was used up before it began"),
        ("finished", "Nothing was left to do in this run"),
        ("stop_file", ""),
    ],
)
@pytest.mark.parametrize("counted", ["used", "pages"])
def test_run_without_a_request_says_that_nothing_was_left_to_do(database, reason, sentence, counted):
    crawl = Stored(database, "a.test")
    crawl.page("a.test/")  # before the run
    crawl.page("a.test/later", State.WAITING)
    lines = crawl.summary(finished=False, reason=reason)
    assert lines[1] == sentence
    assert any(line.startswith("To resume: ") for line in lines)
    # A visit to a known page that failed changes none of its times.
    execute(database, update(worker).values({counted: 1}))
    assert crawl.summary(finished=False, reason=reason)[1] == ""


def test_run_of_which_only_the_process_knows_requests_was_not_idle(database):
    crawl = Stored(database, "a.test")
    assert crawl.summary(finished=False)[1].startswith("Nothing was left")
    assert crawl.summary(finished=False, has_pulled=True)[1] == ""


def test_requests_of_earlier_runs_do_not_count(database):
    crawl = Stored(database, "a.test")
    crawl.page("a.test/later", State.WAITING)
    execute(database, update(worker).values(used=9, pages=9, joined_at=worker.c.joined_at - 1.0))
    assert crawl.summary(finished=False, reason="page_budget")[1].startswith("Nothing was left")
