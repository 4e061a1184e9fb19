"""A crawl that is killed repeatedly, at any instant, has the result of an undisturbed one."""

import random
import signal

import pytest

from tests.support.killing import Killer
from tests.support.running import Crawl, add_on, differences

KILLS = 25
REACH = 60  # requests; 25 runs of 30 on average leave the crawl of 1,100 unfinished
SETTINGS = {"LINK_TAGS": "a,area,frame,iframe,meta", "RETRY_BACKOFF_SECONDS": 0.01}


@pytest.fixture(scope="module")
def undisturbed(everything, tmp_path_factory):
    with Crawl(tmp_path_factory.mktemp("undisturbed"), everything.hosts(), **SETTINGS) as crawl:
        assert crawl.run(is_fresh=True).status == 0
        assert crawl.states == ["finished"]
        return crawl


def test_undisturbed_crawl_fills_every_table(undisturbed):
    tables = undisturbed.tables()
    assert all(tables.values()), "an empty table compares with anything"
    assert len(tables["page"]) > 1000
    assert {row[5] for row in tables["page"]} == {1, 2, 3, 4, 5}  # every state but waiting
    assert {row[6] for row in tables["site"]} > {None}  # a site that is down


def test_a_crawl_killed_again_and_again_ends_as_if_it_had_not_been(everything, undisturbed, crawl_in):
    crawl = crawl_in("killed", everything.hosts(), **SETTINGS)
    killer = Killer(crawl, everything, random.Random(25), REACH)
    killer.kill(KILLS)
    toll = killer.toll
    assert toll.total == KILLS
    assert crawl.states != ["finished"]
    assert crawl.waiting > 0, "the crawl would have been complete without a further run"
    assert len(set(toll.stored_at_kills)) > KILLS // 4, "the kills did not fall into the work"
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

    everything.counts.clear()
    assert crawl.run().status == 0
    assert everything.requests == 0
    assert crawl.states == ["finished"]
    assert differences(undisturbed.tables(), crawl.tables()) == []
    assert crawl.files() == undisturbed.files()


def test_a_kill_at_each_transaction_of_a_small_crawl_changes_nothing(everything, crawl_in):
    """Transactions are as small as possible; each run is killed at its n-th, with increasing n, until one finishes."""
    hosts = everything.hosts("corner", "dead")
    settings = {**SETTINGS, "STORE_BATCH_SECONDS": 0.001}
    whole = crawl_in("whole", hosts, **settings)
    assert whole.run().status == 0
    crawl = crawl_in("killed", hosts, **settings)
    deaths = 0
    for commit in range(1, 100):
        status = crawl.run(ADDONS=add_on("KillBeforeCommit"), KILL_BEFORE_COMMIT=commit).status
        if status == 0:
            break
        assert status == -signal.SIGKILL
        deaths += 1
    assert deaths > 1
    assert crawl.states == ["finished"]
    assert differences(whole.tables(), crawl.tables()) == []
    assert crawl.files() == whole.files()


def test_kills_while_duplicates_are_dropped_change_nothing(everything, crawl_in):
    hosts = everything.hosts("mirror", "corner")
    kept, whole, crawl = (crawl_in(name, hosts, **SETTINGS) for name in ("kept", "whole", "killed"))
    assert kept.run().status == 0
    assert whole.run(SAVE_DUPLICATES=0).status == 0
    assert whole.stored < kept.stored

    for statement in ("DELETE FROM page", "UPDATE crawl .*finished"):
        ended = crawl.run(SAVE_DUPLICATES=0, ADDONS=add_on("KillAtStatement"), KILL_AT_STATEMENT=statement)
        assert ended.status == -signal.SIGKILL
        assert crawl.states == ["running"]
    assert crawl.stored == whole.stored, "the second kill came after the duplicates were gone"
    assert crawl.run(SAVE_DUPLICATES=0).status == 0
    assert differences(whole.tables(), crawl.tables()) == []
    assert crawl.files() == whole.files()
    graphs = [{name: of for name, of in one.files().items() if name.endswith(".gexf")} for one in (whole, kept)]
    assert graphs[0] == graphs[1]
    assert graphs[0]
