"""A crawl of failing servers that is killed again and again: what the servers see, and what it finds.

`python -m bench.durability.frontier` is the large form.
"""

import random
import time

import pytest

from tests.support.faulty_web import SETTINGS, FaultyWeb, Limits
from tests.support.killing import Killer
from tests.support.running import Crawl

SLOW = Limits(parallel=2, delay_s=0.8, pages=3)  # a restart is quicker than its delay
LIMITS = [SLOW, Limits(1, 0.0), Limits(4, 0.0), Limits(8, 0.02), Limits(2, 0.0, crawl_delay_s=0.05)]
KILLS = 3


@pytest.fixture(scope="module")
def failing():
    with FaultyWeb(4, 50, LIMITS, stalls=0) as web:
        yield web


@pytest.fixture(scope="module")
def undisturbed(failing, tmp_path_factory):
    with Crawl(tmp_path_factory.mktemp("undisturbed"), failing.hosts(), **SETTINGS) as crawl:
        began_s = time.monotonic()
        assert crawl.run().status == 0
        assert list(failing.problems(crawl.result, [began_s])) == []
        return crawl


def test_failing_servers_are_treated_politely_over_restarts_and_their_graphs_are_true(failing, undisturbed, crawl_in):
    failing.begin()
    crawl = crawl_in("killed", failing.hosts(), **SETTINGS, CONCURRENT_REQUESTS=64)
    killer = Killer(crawl, failing, random.Random(64), reach=15, kinds={"request": 1})
    killer.kill(KILLS)
    assert killer.toll.total == KILLS
    began_s = [*killer.toll.began_s, time.monotonic()]
    assert crawl.run().status == 0
    assert crawl.states == ["finished"]
    assert list(failing.problems(crawl.result, began_s)) == []
    assert crawl.files() == undisturbed.files()
