"""A broad crawl of several processes, which send each other links, while some of them are killed."""

import random

import pytest

from tests.integration.missions.broad.test_broad import OPEN, cash, check_links
from tests.support.crew import Crew
from tests.support.running import add_on
from tests.support.sites.town import NAMES

OFTEN = {"ADDONS": add_on("FrequentStoreChecks")}  # so that sites are shared within few requests


def test_broad_crawl_of_workers_that_are_killed_keeps_its_cash_and_all_links(town, crawl_in, postgresql_url):
    server = {"DATABASE_URL": postgresql_url}
    # So that all workers find pages that wait, and are granted pulls whatever their sites promise.
    settings = {**OPEN, **OFTEN, "SITE_DELAY_SECONDS": 0.1, "RULE_WAIT_SECONDS": 0, **server}
    hosts = [f"{town.origins[name]};2;;100" for name in ("tagged", "plain")]
    crawl = crawl_in("shared", hosts, spider="broad", PAGE_BUDGET=300, **settings)
    crew = Crew(crawl, town, 3)
    rng = random.Random(13)
    for _ in range(3):
        if crew.kill_one(rng, 40):
            assert cash(crawl) == pytest.approx(1.0, abs=1e-9)
    ended = crew.wait()
    assert [one.status for one in ended] == [0] * 3, "\n".join(one.log[-3000:] for one in ended)
    assert crawl.query("SELECT count(*) FROM pull") == [(300,)]
    assert len(crew.killed) > 1
    by_worker = dict(crawl.query("SELECT worker_id, count(*) FROM pull GROUP BY 1"))
    assert len(by_worker) > 1
    assert cash(crawl) == pytest.approx(1.0, abs=1e-9)
    check_links(crawl, town)
    sites = {site for (site,) in crawl.query("SELECT DISTINCT site FROM page p JOIN site s ON s.id = p.site_id")}
    assert sites == {town.origins[name] for name in NAMES}
    crawl.run(PAGE_BUDGET=360, SITE_DELAY_SECONDS=0).done()
    assert cash(crawl) == pytest.approx(1.0, abs=1e-9)
    assert crawl.query("SELECT count(*) FROM message") == [(0,)]
    check_links(crawl, town)
