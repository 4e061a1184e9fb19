"""Several processes work on one crawl: its result is that of one process, whatever happens to them."""

import random

import psycopg
import pytest

from tests.support.crawl_web import WatchedWeb
from tests.support.crew import Crew
from tests.support.network import Network
from tests.support.of_missions import needs
from tests.support.running import Crawl, add_on, differences
from tests.support.services import fresh_database, restart_postgresql

SETTINGS = {
    "ADDONS": add_on("FrequentStoreChecks"),  # so that sites are shared within few requests
    "LINK_TAGS": "a,area,frame,iframe,meta",
    "RETRY_BACKOFF_SECONDS": 0.01,
    "STORE_BATCH_SECONDS": 0.05,
    "CONCURRENT_REQUESTS": 8,
}
REACH = 100  # requests, of 700


@pytest.fixture(scope="module")
def web():
    with WatchedWeb(("library", "faculty", "mirror", "corner", "dead")) as served:
        yield served


@pytest.fixture(scope="module")
def whole(web, tmp_path_factory):
    """The crawl of one process."""
    with Crawl(tmp_path_factory.mktemp("whole"), web.hosts(parallel=4), **SETTINGS) as crawl:
        assert crawl.run(is_fresh=True).status == 0
        assert crawl.states == ["finished"]
        return crawl


@pytest.fixture
def requests(whole, web):
    """The requests by URL, counted from now on."""
    web.counts.clear()
    return web.counts


def check_same(whole, shared, ended):
    assert [one.status for one in ended] == [0] * len(ended), "\n".join(one.log[-2000:] for one in ended)
    assert shared.states == ["finished"]
    assert differences(whole.tables(), shared.tables()) == []
    assert shared.files() == whole.files()


def test_workers_that_are_killed_at_random_have_the_result_of_one_process(
    web, whole, crawl_in, requests, postgresql_url
):
    shared = crawl_in("shared", web.hosts(parallel=4), **SETTINGS, DATABASE_URL=postgresql_url)
    crew = Crew(shared, web, 3)
    rng = random.Random(13)
    kills = sum(crew.kill_one(rng, REACH) for _ in range(3))
    assert kills == 3
    check_same(whole, shared, crew.wait())
    again = {url: number for url, number in requests.items() if number > 1 and not url.endswith("/robots.txt")}
    in_flight = SETTINGS["CONCURRENT_REQUESTS"]
    assert len(again) <= kills * (in_flight + 40)  # with those of the last twentieth of a second, not committed yet
    assert shared.query("SELECT count(DISTINCT worker_id) FROM site") == [(0,)]


def test_frozen_worker_joins_again_when_it_wakes(web, whole, crawl_in, requests, postgresql_url):
    settings = {**SETTINGS, "WORKER_DEADLINE_SECONDS": 1.5, "DATABASE_URL": postgresql_url}
    shared = crawl_in("frozen", web.hosts(parallel=4), **settings)
    crew = Crew(shared, web, 2)
    crew.after_requests(100, lambda: None)
    crew.freeze_one(random.Random(3))
    ended = crew.wait()
    check_same(whole, shared, ended)
    assert sum("begins again in this process" in one.log for one in ended) == 1


def test_workers_go_on_when_their_server_is_back(web, whole, crawl_in, requests, postgresql_socket):
    with fresh_database(postgresql_socket) as url:
        shared = crawl_in("cut_off", web.hosts(parallel=4), **SETTINGS, DATABASE_URL=url)
        crew = Crew(shared, web, 2)
        crew.after_requests(100, lambda: terminate(url))
        crew.until_active(2)
        crew.after_requests(100, lambda: None)
        restart_postgresql(postgresql_socket)
        ended = crew.wait()
        check_same(whole, shared, ended)
        assert any("begins again" in one.log for one in ended)


def test_worker_whose_connections_are_forgotten_joins_again(web, whole, crawl_in, requests, postgresql_url):
    with Network(postgresql_url) as network:
        shared = crawl_in(
            "network", web.hosts(parallel=4), **SETTINGS, WORKER_DEADLINE_SECONDS=1.5, DATABASE_URL=postgresql_url
        )
        crew = Crew(shared, web, 1)
        run = crew.add(DATABASE_URL=network.url)
        crew.after_requests(100, network.forget)
        crew.until_lost(run)
        network.mend()
        ended = crew.wait()
        check_same(whole, shared, ended)
        assert "begins again in this process" in run.log
        assert all("Traceback" not in one.log for one in ended)


def terminate(url):
    """Terminate the connections of one process, as a network does that breaks down."""
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid != pg_backend_pid()"
        )


@needs("extlinks")  # which counts rewards
def test_budget_is_spent_exactly_although_a_worker_is_killed(web, crawl_in, requests):
    shared = crawl_in("budget", web.hosts(parallel=4), spider="extlinks", **SETTINGS, PAGE_BUDGET=300)
    crew = Crew(shared, web, 2)
    assert crew.kill_one(random.Random(5), 60)
    ended = crew.wait()
    assert [one.status for one in ended] == [0, 0], "\n".join(one.log[-2000:] for one in ended)
    assert shared.query("SELECT count(*) FROM pull") == [(300,)]
    assert shared.query("SELECT state, reason FROM crawl") == [("interrupted", "page_budget")]
    assert shared.query("SELECT sum(used) FROM worker") == [(300,)]
