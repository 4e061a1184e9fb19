"""`scrapy workers`: lines about fixed rows."""

import pytest

from crawlers.reports.histories.history import sentence
from crawlers.store.reading.queries import NamedCrawl
from crawlers.store.worker_rows import ACTIVE, LEFT, LOST, Wait, WorkerStatus
from crawlers.workers.worker_table import (
    CrawlWorkers,
    SiteLine,
    WorkerLine,
    nobody_works,
    site_lines,
    waits_for,
    worker_lines,
)

NOW = 1_000_000_000.0
CRAWL = NamedCrawl(3, "spring", "sitegraph", "running")
STATUS = WorkerStatus(7.53, {Wait.DELAY: 10, Wait.READY: 2, Wait.ROBOTS: 1, Wait.NOTHING: 4})
IDLE = CrawlWorkers(NOW, None, [], 0, 0, 0)


def worker(number, *, silent_s=1.0, state=ACTIVE, sites=17, machine="alpha", **fields):
    row = WorkerLine(
        number, machine, 4700 + number, state, NOW - 600, NOW - silent_s, None, 100, 60, 1234, 8, sites, STATUS
    )
    return row._replace(**fields)


def lines(*workers, control=None, free_sites=0, budget=0, used=0, dead=(), deadline_s=None, with_ended=False):
    found = CrawlWorkers(NOW, control, list(workers), free_sites, budget, used, dead, deadline_s)
    return worker_lines(CRAWL, found, with_ended=with_ended)


def test_table_of_workers():
    assert "\n".join(lines(worker(1), worker(12, machine="beta.example", sites=0, status=WorkerStatus()))) == (
        "Crawl spring (number 3): 2 workers on 2 machines\n\n"
        "worker  machine       process  state   since (UTC)       sites  pages  pages/s  leases  "
        "what its sites wait for\n"
        "     1  alpha            4701  active  2001-09-09 01:36     17  1,234      7.5       8  "
        "ready: 2, politeness delay: 10, robots.txt: 1\n"
        "    12  beta.example     4712  active  2001-09-09 01:36      0  1,234      0.0       8  -\n"
    )


def test_budget_has_columns_and_a_line():
    shown = lines(worker(1), worker(2, granted=50, used=50), budget=2000, used=110)
    assert "leases  granted  used  what" in shown[2]
    assert shown[-1] == "Budget: 110 of 2,000 pages used, 40 granted to workers for their next pages"


def test_worker_that_is_silent_or_dead_is_said():
    shown = lines(worker(1), worker(2, silent_s=21.3), worker(3), worker(4, silent_s=300, sites=0), dead={3})
    assert shown[-3:] == [
        "Worker 2 (alpha, process 4702): no heartbeat for 22 s; its sites are free when it ends",
        "Worker 3 (alpha, process 4703): it has ended, or was cut off; its sites are free for other workers",
        "Worker 4 (alpha, process 4704): no heartbeat for 5 min; it holds no site",
    ]
    assert "silent" in shown[2]
    assert "dead" in shown[2]


def test_server_frees_the_sites_of_a_silent_worker_at_its_deadline():
    """Unless it has none, as a worker that opens its sites."""
    shown = lines(worker(1, silent_s=21.3), worker(2, silent_s=300), deadline_s=30.0)
    assert [line.partition("; ")[2] for line in shown[-2:]] == [
        "its sites are free in 9 s",
        "its sites are free when it ends",
    ]


def test_ended_workers_are_counted_and_shown_on_demand():
    ended = worker(1, state=LOST, ended_at=NOW - 60), worker(2, state=LEFT, ended_at=NOW - 30)
    shown = lines(*ended, worker(3))
    assert shown[-1] == "Earlier: 1 worker lost, 1 left; --all shows them"
    assert "lost" not in shown[2]
    (table,) = (line for line in lines(*ended, worker(3), with_ended=True) if "machine" in line)
    assert [row.split()[:4] for row in table.splitlines()[1:]] == [
        ["1", "alpha", "4701", "lost"],
        ["2", "alpha", "4702", "left"],
        ["3", "alpha", "4703", "active"],
    ]


def test_crawl_without_a_worker_is_one_sentence():
    resumes = "Nobody works on the crawl spring (number 3); the command that began it resumes it"
    used_up = "the budget of 5 pages is used up; resume the crawl with a larger PAGE_BUDGET"
    for state, budget, said in (
        ("finished", 0, "Crawl spring (number 3) is finished; nobody works on it"),
        ("interrupted", 0, resumes),
        ("interrupted", 6, resumes),
        ("interrupted", 5, f"Nobody works on the crawl spring (number 3); {used_up}"),
    ):
        assert sentence(nobody_works(CRAWL._replace(state=state), IDLE._replace(budget=budget, used=5))) == said


SITE = SiteLine("http://a.test", 2, True, 5, 0, None, None, True, False)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "ready"),
        ({"is_open": False}, "the site is missing from the host list"),
        ({"waiting": 0}, "nothing waits"),
        ({"worker": None}, "a worker"),
        ({"worker": None, "is_budget_used": True}, "a larger PAGE_BUDGET"),
        ({"rest_until": NOW + 11.2}, "host's rest, 12 s"),
        ({"rest_until": NOW - 1}, "ready"),
        ({"has_robots": False}, "robots.txt"),
        ({"has_robots": False, "rest_until": NOW + 11.2}, "robots.txt"),
        ({"resting": 5, "retry_at": NOW + 2, "rest_until": NOW + 2}, "retry, 2 s"),
        ({"resting": 4, "retry_at": NOW + 2, "rest_until": NOW + 2}, "host's rest, 2 s"),
        ({"resting": 5, "retry_at": NOW + 2}, "retry, 2 s"),
        ({"resting": 5, "retry_at": NOW - 2}, "ready"),
        ({"resting": 4, "retry_at": NOW + 2}, "ready"),
    ],
)
def test_what_a_site_waits_for(changes, words):
    assert sentence(waits_for(SITE._replace(**changes), NOW)) == words


def test_sites_with_the_most_waiting_urls_come_first():
    sites = [SITE, SITE._replace(site="http://b.test", waiting=1200, worker=None), SITE._replace(site="http://c.test")]
    assert "\n".join(site_lines(sites, NOW, {2})) == (
        "site           worker    waiting URLs  waits for\n"
        "http://b.test  -                1,200  a worker\n"
        "http://a.test  2 (dead)             5  ready\n"
        "http://c.test  2 (dead)             5  ready"
    )
    assert site_lines([], NOW) == ["No URLs wait, and no worker holds a site"]
