"""Nutch's OPIC as it is, faults included."""

from __future__ import annotations

from bench.simulators.opic_nutch import NutchOPIC
from crawlers.algorithms.ranking.page_scores import GONE


def crawl() -> NutchOPIC:
    scores = NutchOPIC()
    scores.found(1, 0)
    for page in (2, 3):
        scores.found(page, 1)
    return scores


def test_roots_begin_with_one_and_others_with_what_links_give() -> None:
    scores = crawl()
    assert [scores.score(page) for page in (1, 2, 3)] == [1.0, 0.0, 0.0]
    assert scores.fetched(1, {2: 1.0, 3: 1.0, 1: 1.0, 9: 1.0}) == [2, 3]
    assert [scores.score(page) for page in (1, 2, 3)] == [1.0, 0.5, 0.5]
    scores.found(2, 0)
    assert scores.score(2) == 0.5, "a page is found once"


def test_the_total_is_not_conserved() -> None:
    scores = crawl()
    totals = []
    for page in (1, 2, 3):
        totals.append(scores.total_score())
        scores.fetched(page, {1: 1.0, 2: 1.0, 3: 1.0})
    assert totals == sorted({*totals}), "each page passes its score on, and keeps it"
    assert scores.total_score() > 3.0


def test_a_page_that_is_read_again_pays_again() -> None:
    scores = crawl()
    for _ in range(5):
        scores.fetched(1, {2: 1.0})
    assert scores.score(2) == 5.0


def test_pages_are_fetched_once_and_links_to_them_count_still() -> None:
    scores = crawl()
    scores.fetched(1, {2: 1.0})
    scores.fetched(2, {1: 1.0, 3: 1.0})
    assert (scores.queue(1), scores.queue(3)) == (GONE, 0)
    assert (scores.score(1), scores.score(3)) == (1.5, 0.5)


def test_a_page_that_moved_leaves_its_score_to_its_target() -> None:
    scores = crawl()
    assert scores.moved(1, 2) == (2,)
    assert (scores.queue(1), scores.score(2)) == (GONE, 1.0)
    assert scores.moved(2, 9) == ()
    assert scores.queue(2) == GONE
    scores.gone(3)
    scores.gone(9)
    assert (scores.queue(3), scores.queue(9)) == (GONE, GONE)


def test_a_crawl_goes_on_as_if_it_had_not_been_killed() -> None:
    scores, again = crawl(), NutchOPIC()
    scores.fetched(1, {2: 1.0, 3: 1.0})
    again.recall_totals(scores.totals())
    for page in (1, 2, 3):
        record = scores.record(page)
        assert len(record) == len(scores.columns)
        again.recall(page, scores.queue(page), record)
    for one in (scores, again):
        one.fetched(2, {3: 1.0})
    assert [again.score(page) for page in (1, 2, 3)] == [scores.score(page) for page in (1, 2, 3)] == [1.0, 0.5, 1.0]
    assert [again.queue(page) for page in (1, 2, 3)] == [GONE, GONE, 0]
