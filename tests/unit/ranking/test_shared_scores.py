"""Pages that are divided among workers: no cash is lost or created, and importance is that of one process."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.ranking.opic import OPIC
from tests.support.divided_opic import DividedOPIC
from tests.support.scale_free import copy_model
from tests.support.scored_webs import Walk, estimate, exact, l1

weights = st.sampled_from([1.0, 3.0, math.inf])


def divided(pages, workers, rng, make):
    web = {page: dict.fromkeys(targets, 1.0) for page, targets in copy_model(pages, rng).items()}
    crawl = DividedOPIC(web, workers, make)
    for page in web:
        crawl.found(page, rng.randint(1, workers))
    return crawl


# Cash ------------------------------------------------------------------------------------------------


@given(st.integers(1, 5), weights, st.integers(0, 2**32).map(random.Random))
def test_workers_that_come_and_go_neither_lose_nor_create_cash(workers, weight, rng):
    crawl = divided(30, workers, rng, lambda: OPIC(window=2.0, uncrawled_weight=weight))
    pages, last = list(crawl.web), workers
    for _ in range(60):
        worker = rng.choice(list(crawl.parts))
        match rng.randint(0, 9):
            case 0:
                crawl.take_messages(worker)
            case 1 | 2:
                crawl.round(worker)
            case 3:
                crawl.gives_up(rng.sample(pages, 3))
            case 4 | 5:
                crawl.claims(worker, pages)
            case 6 if len(crawl.parts) > 1:
                crawl.ends(worker)
            case 7 if len(crawl.parts) < 5:
                last += 1
                crawl.join(last)
            case _:
                page = rng.choice(pages)
                if crawl.owner[page]:
                    rng.choice([crawl.fetched, crawl.fetched, crawl.fetched, lambda p: crawl.part(p).remove_page(p)])(
                        page
                    )
        assert crawl.total_cash() == pytest.approx(1.0, abs=1e-9)


@given(st.integers(2, 5), st.integers(0, 2**32).map(random.Random))
def test_virtual_page_gives_the_same_to_every_page_of_every_worker(workers, rng):
    crawl = divided(40, workers, rng, OPIC)
    for page in rng.choices(list(crawl.web), k=50):
        crawl.fetched(page)
    before = {page: crawl.part(page).cash(page) for page in crawl.web}
    for worker in rng.sample(list(crawl.parts), workers):
        crawl.round(worker)
    for worker in crawl.parts:
        crawl.round(worker)
    gains = [crawl.part(page).cash(page) - before[page] for page in crawl.web]
    assert gains == pytest.approx([gains[0]] * 40, abs=1e-12)
    assert gains[0] > 0.0
    assert sum(gains) + sum(before.values()) + sum(message.cash for message in crawl.messages) == pytest.approx(1.0)


def test_cash_that_arrives_at_an_alias_goes_to_its_page_and_that_of_a_gone_page_to_all():
    scores = OPIC()
    for page in (1, 2, 3):
        scores.add_waiting(page, 0)
    scores.apply_totals([], 0.0)
    scores.record_alias(2, 3)
    scores.remove_page(1)
    assert list(scores.received(2, 0.25, 1.0)) == [3]
    assert scores.received(1, 0.5, 1.0) == ()
    assert scores.totals()[7] == pytest.approx(0.5 + 1 / 3), "what the virtual page of all workers got"
    assert scores.cash(3) == pytest.approx(0.25 + 2 / 3)


# Importance ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "exchange_p", "apart", "error"),
    [
        # Alone, the errors are 0.0068, 0.040 and 0.0096; the window of 2 lasts as long as 20 exchanges.
        (OPIC, 0.05, 0.01, 0.012),
        (lambda: OPIC(window=2.0), 0.2, 0.09, 0.08),
        (lambda: OPIC(window=8.0), 0.2, 0.02, 0.02),
    ],
)
def test_importance_is_that_of_one_process(make, exchange_p, apart, error):
    pages, fetches, rng = 200, 12_000, random.Random(4)
    crawl = divided(pages, 4, rng, make)
    for tick in range(fetches):
        worker = rng.randint(1, 4)
        crawl.fetched(crawl.best(worker))
        if rng.random() < exchange_p:
            crawl.take_messages(worker)
        if rng.random() < exchange_p:
            crawl.round(worker)
        if tick % 500 == 0:
            crawl.gives_up(rng.sample(range(1, pages + 1), 10))
            crawl.claims(worker, crawl.web)
    links = {page: list(targets) for page, targets in crawl.web.items()}
    alone = make()
    Walk(alone, links).fetch(fetches)
    shared, single = estimate(crawl.weights().__getitem__, pages), estimate(alone.weight, pages)
    assert l1(shared, single / single.sum()) < apart
    assert l1(shared, exact(links)) < error
