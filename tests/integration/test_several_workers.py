"""Several workers of one crawl under one command: the same result as that of one, whatever happens to them."""

import os
import re
import signal
import threading
from collections import Counter

import pytest

from tests.support.processes import Run, until
from tests.support.running import Crawl, add_on
from tests.support.sites.server import Web, links, pages
from tests.support.terminal import Terminal

GRAPH = ".*END, duplicates"  # the statement that reads a graph
SIZES = {"a": 40, "b": 30, "c": 25}  # of sites, in pages that have links


def site_of(pages_with_links, gate):
    """Return a site whose page /gate is not ready before the event *gate* is set: so no crawl ends before that.

    Meanwhile nothing of the site is in flight, so it can pass from one worker to another.
    """
    numbers = range(pages_with_links)
    bodies = {f"/p{n}": links(f"/p{n * 7 % pages_with_links}", f"/q{n}", "/") for n in numbers}
    bodies |= {f"/q{n}": f"<title>{n}</title>" for n in numbers}
    answer = pages(bodies | {"/": links("/gate", *(f"/p{n}" for n in numbers)), "/gate": links("/q0")})

    async def respond(exchange):
        if exchange.path == "/gate" and not gate.is_set():
            await exchange.page(status=503, Retry_After=1)
        else:
            await answer(exchange)

    return respond


@pytest.fixture(scope="module")
def gate():
    """An event that lets crawls end; set, unless a test clears it."""
    event = threading.Event()
    event.set()
    return event


@pytest.fixture(scope="module")
def web(gate):
    with Web(**{name: site_of(size, gate) for name, size in SIZES.items()}) as served:
        yield served


def hosts(web):
    return web.hosts().split(",")


@pytest.fixture(scope="module")
def undisturbed(web, tmp_path_factory):
    """A crawl of one worker, for comparison."""
    with Crawl(tmp_path_factory.mktemp("undisturbed"), hosts(web)) as crawl:
        ended = crawl.run()
        assert (ended.status, crawl.states) == (0, ["finished"]), ended.log
        assert crawl.stored == sum(2 * size + 2 for size in SIZES.values())
        return crawl


@pytest.fixture
def crawl(web, gate, crawl_in):
    """A crawl of two workers, which can't end before the gate is set."""
    for served in web.sites.values():
        served.requests.clear()
    gate.clear()
    often = {"ADDONS": add_on("FrequentStoreChecks")}
    yield crawl_in("shared", hosts(web), WORKERS=2, RETRY_REST_TIMES=1000, **often)
    gate.set()


def requests(web):
    """Return how often each page was requested, without those that were not ready."""
    found = ((name, path) for name, served in web.sites.items() for path in served.paths if path != "/gate")
    return Counter(found)


def active(crawl):
    """Return the processes of the active workers, by number."""
    return dict(crawl.query("SELECT id, process FROM worker WHERE state = 'active' ORDER BY id"))


def have_both_sites(crawl):
    return crawl.query("SELECT count(DISTINCT worker_id) FROM site") == [(2,)]


def started(crawl, **settings):
    """Start the crawl, and return its command when both workers hold sites; the workers are fresh processes."""
    run = crawl.start(**settings)
    assert run.until(lambda: have_both_sites(crawl), "both workers hold sites"), run.log
    return run


def assert_result(crawl, undisturbed):
    assert crawl.states == ["finished"]
    assert crawl.files() == undisturbed.files()


def test_two_workers_have_the_result_of_one_under_one_command(web, gate, crawl, undisturbed):
    """The logs are shared; each worker has files of its own."""
    files = {"WARC_FILE": "out/crawl.warc.gz", "FEEDS": '{"out/pages.csv": {"format": "csv", "fields": ["url"]}}'}
    run = started(crawl, LOG_FILE="crawl.log", **files)
    first, second = active(crawl)
    gate.set()
    ended = run.wait()
    assert (ended.status, ended.errors) == (0, []), ended.log
    assert_result(crawl, undisturbed)
    assert set(requests(web).values()) == {1}
    assert crawl.query("SELECT state, pages > 0 FROM worker") == [("left", True)] * 2
    log = (crawl.folder / "crawl.log").read_text("utf-8")
    assert "Traceback" not in log
    assert len(re.findall(r"Crawl plain is finished: ", log)) == 1  # one summary
    assert log.count("Crawl plain begins: 3 sites in ") == 1  # not only those of the first worker
    for number in (first, second):
        assert re.search(rf"^\[{number}\] \d{{4}}-.* INFO: ", log, re.MULTILINE)
    names = {path.name for path in (crawl.folder / "out").iterdir()}
    assert names == {"pages.csv", f"pages.{second}.csv", "crawl.warc.gz", f"crawl.{second}.warc.gz"}
    rows = Counter(
        line for name in ("pages.csv", f"pages.{second}.csv") for line in _lines(crawl.folder / "out" / name)[1:]
    )
    assert {number for url, number in rows.items() if not url.endswith("/gate")} == {1}
    assert len(rows) == crawl.stored
    assert sum(line.startswith("time,") for line in _lines(crawl.folder / "logs" / "common_log.csv")) == 1


def _lines(path):
    return path.read_text("utf-8").splitlines()


def test_signal_to_one_command_lets_the_workers_of_another_one_go_on(web, gate, crawl, undisturbed):
    run = started(crawl)
    other = crawl.start(WORKERS=1)
    assert other.until(lambda: len(active(crawl)) == 3, "another command has joined"), other.log
    run.signal(signal.SIGINT)
    assert run.wait().status == 0, run.log
    assert (crawl.states, len(active(crawl))) == (["running"], 1)
    assert crawl.query("SELECT control FROM crawl") == [(None,)]
    gate.set()
    assert other.wait().status == 0, other.log
    assert "asked to stop" not in other.log
    assert_result(crawl, undisturbed)


def test_workers_that_are_killed_while_they_crawl_or_write_the_graphs_are_replaced(web, gate, crawl, undisturbed):
    run = started(crawl, ADDONS=add_on("KillAtStatement"), KILL_AT_STATEMENT=GRAPH)
    number, process = list(active(crawl).items())[-1]
    os.kill(process, signal.SIGKILL)
    assert run.until(lambda: max(active(crawl), default=0) > number, "another one has joined"), run.log
    gate.set()
    ended = run.wait().done()
    replaced = "was ended by SIGKILL; another one takes its place"
    assert ended.log.count(f"Worker {number} (process {process}) {replaced}") == 1
    assert ended.log.count(replaced) == 2
    assert_result(crawl, undisturbed)


def test_graphs_that_a_killed_worker_could_not_write_when_it_stopped_are_written_by_one_more(
    web, gate, crawl, undisturbed
):
    run = started(crawl, ADDONS=add_on("KillAtStatement"), KILL_AT_STATEMENT=GRAPH)
    run.signal(signal.SIGTERM)  # to the command only
    ended = run.wait()
    assert ended.status == 1, ended.log
    assert "Received SIGTERM; stopping 2 workers gracefully" in ended.log
    assert ended.log.count("was ended by SIGKILL while the crawl was stopping; the same command resumes it") == 1
    assert ended.log.count("one more is started to write them") == 1
    assert crawl.states == ["interrupted"]
    assert any(name.endswith(".gexf") for name in crawl.files())
    gate.set()
    assert crawl.start(is_fresh=True).wait().status == 0
    assert_result(crawl, undisturbed)


def test_workers_stop_when_the_command_is_killed(web, gate, crawl, undisturbed):
    run = started(crawl)
    run.kill()
    assert run.wait().status == -signal.SIGKILL
    until(lambda: not active(crawl), "the workers have stopped")
    until(lambda: crawl.states == ["interrupted"], "the last one has recorded the end")
    gate.set()
    assert crawl.run(WORKERS=1).status == 0
    assert_result(crawl, undisturbed)


def test_people_pause_and_stop_a_crawl_on_all_its_workers_and_the_same_command_resumes(web, gate, crawl, undisturbed):
    run = started(crawl)
    assert "paused: 2 workers" in Run(crawl.folder, ["workers", "pause"]).wait().output
    shown = Run(crawl.folder, ["workers"]).wait().output
    assert shown.startswith("Crawl plain (number 1), paused: 2 workers\n")
    assert "Crawl plain is stopping" in Run(crawl.folder, ["workers", "stop"]).wait().output
    ended = run.wait().done()
    assert "Traceback" not in ended.log
    assert crawl.states == ["interrupted"]
    assert crawl.query("SELECT reason FROM crawl") == [("shutdown",)]
    assert active(crawl) == {}
    assert ended.log.count("To resume: run the same command again") == 1
    gate.set()
    assert crawl.run().status == 0
    assert_result(crawl, undisturbed)
    assert set(requests(web).values()) == {1}


def test_lines_are_whole_above_one_display(crawl):
    with Terminal(100, 30) as terminal:
        run = crawl.start(before=terminal.before)
        assert run.until(lambda: b" workers" in terminal.output and have_both_sites(crawl), "a display of two workers")
        terminal.press(b"\x03")
        ended = run.wait()
    assert ended.status == 0
    screen = terminal.screen()
    assert screen.shows_cursor
    records = [line for line in screen.lines if re.match(r"(\[\d+\] )?\d{4}-\d\d-\d\d ", line)]
    assert records
    for line in records:
        assert re.fullmatch(r"(\[\d+\] )?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[[\w.]+\] [A-Z]+: .*", line), line
        assert line.count(" INFO: ") <= 1, line
    assert sum("Received SIGINT; stopping" in line for line in screen.lines) == 1
    assert sum("Crawl plain stopped (stopped on request)" in line for line in screen.lines) == 1
    assert not any("pages/s" in line for line in screen.lines)


def test_store_that_is_removed_ends_all_workers_and_is_not_created_again(crawl):
    run = started(crawl)
    crawl.database.unlink()
    ended = run.wait()
    assert ended.status == 1, ended.log
    assert "crawl.sqlite was removed" in ended.log
    assert "Traceback" not in ended.log
    assert "another one takes its place" not in ended.log
    assert not crawl.database.exists()


def test_outputs_are_written_although_workers_are_killed_while_the_crawl_stops(crawl):
    run = started(crawl)
    run.signal(signal.SIGTERM)
    for process in active(crawl).values():
        os.kill(process, signal.SIGKILL)
    ended = run.wait()
    assert (ended.status, active(crawl), crawl.states) == (1, {}, ["interrupted"]), ended.log
    assert crawl.files(), ended.log
