"""A web of several sites, crawled by workers that send each other links, is that which one worker finds."""

import random
from contextlib import ExitStack, closing

import pytest

from crawlers.items import State
from crawlers.ranking.opic import OPICTotals
from tests.support.of_missions import for_core
from tests.support.orders import installed
from tests.support.orders import order as order_of
from tests.support.workers_of_web import RandomWeb, Workers

SITES, PAGES = 5, 6


@pytest.fixture
def make(database_url):
    """Return a function that makes workers on the store of the test."""
    with ExitStack() as stack:
        yield lambda *arguments: stack.enter_context(closing(Workers(*arguments, database_url)))


def order(name):
    return lambda: order_of(name)


def truth(web):
    """Return state and target of a redirect by page, and the numbers of links, of what the home pages lead to."""
    found = [(place, 0) for place in range(SITES)]
    for name in found:  # which grows
        targets = [web.moved[name]] if name in web.moved else web.links[name]
        found += [target for target in targets if target not in found]
    pages = {name: (State.MOVED, web.moved[name]) if name in web.moved else (State.DONE, None) for name in found}
    read = [name for name in found if name not in web.moved]
    return pages, {(name, target): count for name in read for target, count in web.links[name].items()}


def disturb(crawl, rng):
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


LEARNING = [way.order for module in for_core() for way in module.LEARNING.values()]


@pytest.mark.parametrize("order", [*map(order, installed("bfs", "topic")), *LEARNING])
@pytest.mark.parametrize("seed", [1, 2])
def test_pages_and_links_are_those_of_one_worker_whoever_is_killed(make, order, seed):
    rng = random.Random(seed)
    web = RandomWeb(rng, SITES, PAGES)
    crawl = make(web, order, SITES)
    for _ in range(3):
        crawl.join()
    kills = sum(disturb(crawl, rng) for _ in range(120))
    crawl.finish(rng)
    assert kills > 2
    assert crawl.result() == truth(web)


def check_cash(crawl, rng):
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
def test_cash_of_all_adds_up_at_every_commit(make, name, seed):
    rng = random.Random(seed)
    check_cash(make(RandomWeb(rng, SITES, PAGES, moved_p=0.2), order(name), SITES), rng)
