"""A harvest that is killed repeatedly reads the same pages in the same order as an undisturbed one."""

import json
import random
import signal

import pytest

from tests.support.crawl_web import DEMO, WatchedWeb
from tests.support.killing import killed_at_request
from tests.support.running import differences

BUDGET = 90
KILLS = 3
# One request in flight: only then there is one order.
SETTINGS = {"RETRY_TIMES": 0, "PAGE_BUDGET": BUDGET, "CONCURRENT_REQUESTS": 1, "STORE_BATCH_SECONDS": 0.01}
PULLS = """
    SELECT s.site, g.url, p.reward FROM pull p JOIN site s ON s.id = p.site_id JOIN page g ON g.id = p.page_id
    ORDER BY p.id"""


SITES = (*DEMO, "dead")  # of the last not even robots.txt can be had, so it costs no pull


def hosts(web):
    return web.hosts(*SITES, parallel=1)


@pytest.fixture(scope="module")
def web():
    with WatchedWeb(SITES) as served:
        yield served


def test_killed_harvest_makes_the_decisions_of_an_undisturbed_one(web, crawl_in):
    settings = {"RULE": "auto", "ORDER": "learnt", **SETTINGS}
    whole = crawl_in("whole", hosts(web), spider="extlinks", **settings)
    assert whole.run(is_fresh=True).status == 0
    wanted = whole.query(PULLS)
    assert len(wanted) == BUDGET
    assert len({site for site, _, _ in wanted}) == len(DEMO)

    crawl = crawl_in("killed", hosts(web), spider="extlinks", **settings)
    rng = random.Random("auto")
    done = [0]
    for _ in range(KILLS):
        assert killed_at_request(crawl, web, rng.randint(5, 25)) == -signal.SIGKILL
        done.append(len(crawl.query(PULLS)))
    assert done == sorted(done)
    assert 0 < done[-1] < BUDGET
    assert crawl.run().status == 0
    assert crawl.query(PULLS) == wanted
    assert differences(whole.tables(), crawl.tables()) == []
    counted = "SELECT s.site, k.key FROM counted_key k JOIN site s ON s.id = k.site_id ORDER BY 1, 2"
    assert crawl.query(counted) == whole.query(counted)


def test_crawl_that_goes_on_keeps_its_link_prior_whatever_becomes_of_the_file(web, crawl_in):
    settings = {"RULE": "auto", "ORDER": "learnt", "LINK_PRIOR": "mine.json", **SETTINGS}

    def crawl_with(name, weight):
        crawl = crawl_in(name, hosts(web), spider="extlinks", **settings)
        (crawl.folder / "mine.json").write_text(weights(weight))
        return crawl

    def weights(of_first_level):
        return json.dumps({"level": {"1": of_first_level}})

    whole, opposite, crawl = crawl_with("whole", 3.0), crawl_with("opposite", -3.0), crawl_with("stopped", 3.0)
    for one in (whole, opposite):
        assert one.run().status == 0
    assert whole.query(PULLS) != opposite.query(PULLS)
    assert crawl.run(PAGE_BUDGET=BUDGET // 3).status == 0
    (crawl.folder / "mine.json").write_text(weights(-3.0))
    assert crawl.run(PAGE_BUDGET=BUDGET // 2).status == 0
    (crawl.folder / "mine.json").unlink()
    refused = crawl.run(LINK_PRIOR="shipped")
    assert refused.errors[0].startswith(
        "Error: LINK_PRIOR=shipped: the unfinished crawl extlinks began with LINK_PRIOR=mine"
    )
    assert crawl.run().status == 0
    assert crawl.query(PULLS) == whole.query(PULLS)
