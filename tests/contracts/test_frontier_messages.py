"""A web of several sites, crawled by workers that send each other links, is that which one worker finds."""

from __future__ import annotations

import random
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawlers.algorithms.ranking.opic import OPICTotals
from crawlers.algorithms.ranking.page_orders import ORDERS, OrderOptions
from crawlers.algorithms.topic.vectors import STRATEGIES, Weights
from crawlers.storage.schema.tables import external_link
from tests.support.workers_of_web import MemoryWorkers, RandomWeb, SqlWorkers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.workers_of_web import Workers

SITES, PAGES = 5, 6


@pytest.fixture
def make(request: pytest.FixtureRequest) -> Iterator[Callable[..., Workers]]:
    """Return a function that makes workers on each kind of store."""
    if request.param == "memory":
        yield MemoryWorkers
        return
    made: list[SqlWorkers] = []

    def begin(*arguments: object) -> SqlWorkers:
        made.append(SqlWorkers(*arguments, request.getfixturevalue(f"{request.param}_url")))  # type: ignore[arg-type]
        return made[-1]

    yield begin
    for one in made:
        one.close()


def order(name: str) -> Callable[[], object]:
    weights = STRATEGIES["learnt"] if name == "learnt topic" else Weights(0.5, 0.3, 0.2)
    return lambda: ORDERS[name.removeprefix("learnt ")](OrderOptions(weights=weights))


def alone(web: RandomWeb) -> Workers:
    crawl = MemoryWorkers(web, order("bfs"), SITES)  # type: ignore[arg-type]
    crawl.join()
    crawl.finish(random.Random(0))
    return crawl


def disturb(crawl: Workers, rng: random.Random) -> bool:
    """Let something happen to one of the workers; return whether it was killed."""
    crawl.now += 0.5
    worker = rng.choice(list(crawl.workers.values()))
    happens = rng.random()
    if happens < 0.15 and (free := crawl.free_sites()):
        crawl.claim(worker, rng.choice(free))
    elif happens < 0.2 and worker.sites:
        crawl.give_up(worker, rng.choice(sorted(worker.sites)))
    elif happens < 0.3:
        worker.held.commit(rng.randint(0, worker.held.pending))
    elif happens < 0.35:
        crawl.kill(worker)
        crawl.join()
        return True
    elif happens < 0.5:
        crawl.round(worker)
    else:
        crawl.fetch(worker)
    return False


@pytest.mark.parametrize("name", ["bfs", "topic", "learnt topic"])
@pytest.mark.parametrize("seed", [1, 2])
def test_pages_and_links_are_those_of_one_worker_whoever_is_killed(
    make: Callable[..., Workers], name: str, seed: int
) -> None:
    rng = random.Random(seed)
    web = RandomWeb(rng, SITES, PAGES)
    crawl = make(web, order(name), SITES)
    for _ in range(3):
        crawl.join()
    kills = sum(disturb(crawl, rng) for _ in range(120))
    crawl.finish(rng)
    assert kills > 2
    assert crawl.result() == alone(web).result()


def check_cash(crawl: Workers, rng: random.Random) -> None:
    """Check that all cash adds up to 1 at every commit of three workers, some of which are killed."""
    for _ in range(3):
        crawl.join()
    kills, paid = 0, 0.0
    for _ in range(150):
        kills += disturb(crawl, rng)
        paid = max([paid, *(OPICTotals(*one.scores.totals()).paid for one in crawl.workers.values())])
        assert crawl.committed_cash() == pytest.approx(1.0, abs=1e-9)
    assert kills > 2
    assert paid > 0.0
    for worker in crawl.workers.values():
        worker.held.flush()
    assert crawl.committed_cash() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", ["aopic", "opic"])
def test_cash_of_all_adds_up_at_every_commit(make: Callable[..., Workers], name: str, seed: int) -> None:
    rng = random.Random(seed)
    check_cash(make(RandomWeb(rng, SITES, PAGES, moved_p=0.2), order(name), SITES), rng)


@pytest.mark.both_stores
@pytest.mark.parametrize("seed", [1, 2])
def test_cash_of_links_to_refused_sites_adds_up_at_every_commit(database_url: str, seed: int) -> None:
    rng = random.Random(seed)
    web = RandomWeb(rng, SITES, PAGES, moved_p=0.2)
    with closing(SqlWorkers(web, order("aopic"), SITES, database_url, most_sites=3)) as crawl:  # type: ignore[arg-type]
        check_cash(crawl, rng)
        with crawl.database.read() as connection:
            assert len(connection.execute(select(external_link)).all()) > 3
