"""Kill a crawl at any instant, again and again: its result is that of an undisturbed one."""

from __future__ import annotations

import random
import signal

import pytest

from .killing import Killer
from .running import Crawl, differences
from .web import ALL, WatchedWeb

KILLS = 25
REACH = 60  # requests; 25 runs of 30 on average leave the crawl of 1,100 unfinished
SETTINGS = {"LINK_TAGS": "a,area,frame,iframe,meta", "RETRY_BACKOFF_SECONDS": 0.01}


@pytest.fixture(scope="module")
def everything():
    with WatchedWeb(ALL) as served:
        yield served


@pytest.fixture(scope="module")
def undisturbed(everything, tmp_path_factory):
    with Crawl(tmp_path_factory.mktemp("undisturbed"), everything.hosts(), **SETTINGS) as crawl:
        assert crawl.run().status == 0
        assert crawl.states == ["finished"]
        return crawl


def test_undisturbed_crawl_fills_every_table(undisturbed):
    tables = undisturbed.tables()
    assert all(tables.values()), "an empty table compares with anything"
    assert len(tables["page"]) > 1000
    assert {row[5] for row in tables["page"]} == {1, 2, 3, 4, 5}  # every state but waiting
    assert {row[6] for row in tables["site"]} > {None}  # a site that is down


def test_a_crawl_killed_25_times_ends_as_if_it_had_not_been(everything, undisturbed, crawl_in):
    crawl = crawl_in("killed", everything.hosts(), **SETTINGS)
    killer = Killer(crawl, everything, random.Random(25), REACH)
    killer.kill(KILLS)
    toll = killer.toll
    assert toll.total == KILLS
    assert crawl.states != ["finished"]
    assert crawl.waiting > 0, "the crawl would have been complete without a further run"
    assert len(set(toll.stored_at_kills)) > KILLS // 2, "the kills did not fall into the work"
    assert toll.stored_at_kills == sorted(toll.stored_at_kills), "what was committed was lost"

    assert crawl.run().status == 0
    assert crawl.states == ["finished"]
    assert differences(undisturbed.tables(), crawl.tables()) == []
    assert crawl.files() == undisturbed.files()
    assert crawl.query("PRAGMA integrity_check") == [("ok",)]


def test_a_kill_while_graphs_are_written_costs_no_page(everything, undisturbed, crawl_in):
    crawl = crawl_in("killed", everything.hosts(), **SETTINGS)
    run = crawl.start()
    assert run.until(lambda: any(crawl.result.glob("*.gexf")), "the first graph")
    run.kill()
    assert run.wait().status == -signal.SIGKILL
    assert crawl.states == ["running"]
    assert crawl.waiting == 0

    everything.asked.clear()
    assert crawl.run().status == 0
    assert everything.requests == 0
    assert crawl.states == ["finished"]
    assert differences(undisturbed.tables(), crawl.tables()) == []
    assert crawl.files() == undisturbed.files()
