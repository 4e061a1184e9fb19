"""Scores of a news crawl: queue slots, products of scores, revisits, and shares of a site's downloads."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from crawlers.items import GONE, OTHER, REVISIT
from crawlers.missions.news.plan.news_scores import ARCHIVE, FIT, FRESH, NewsScores, QueueShares, QueueSlot
from tests.support.orders import order

EVERYTHING = [OTHER, ARCHIVE, FIT]


def taken(shares, waiting, times):
    counts = Counter()
    for _ in range(times):
        queue = shares.choose(waiting)
        shares.record_request(queue)
        counts[queue] += 1
    return counts


def test_due_pages_do_not_count_against_the_shares():
    shares = QueueShares(explore=0.5, archive=0.0)
    assert taken(shares, [REVISIT, *EVERYTHING], 100) == {REVISIT: 100}
    assert shares.choose(EVERYTHING) == OTHER


def test_explore_and_archive_share_all_downloads_if_no_page_fits():
    counts = taken(QueueShares(explore=0.05, archive=0.15), [OTHER, ARCHIVE], 400)
    assert counts == {OTHER: 100, ARCHIVE: 300}


def test_queue_with_a_share_of_zero_is_chosen_only_if_no_other_waits():
    shares = QueueShares(explore=0.0, archive=0.0)
    assert taken(shares, EVERYTHING, 50) == {FIT: 50}
    assert taken(shares, [OTHER], 2) == {OTHER: 2}


@given(st.lists(st.sets(st.sampled_from([OTHER, REVISIT, ARCHIVE, FIT, FRESH]), min_size=1)))
def test_only_queues_with_waiting_pages_are_chosen(rounds):
    shares = QueueShares(explore=0.05, archive=0.1)
    for waiting in rounds:
        queue = shares.choose(waiting)
        assert queue in waiting
        shares.record_request(queue)


def scores_of(*pages):
    scores = NewsScores()
    for page in pages:
        scores.add_waiting(page, level=0 if page == 1 else 1)
    return scores


def test_due_pages_precede_fresh_ones_and_these_all_others():
    scores = scores_of(1, 2, 3, 4)
    scores.take_hint(2, QueueSlot(FRESH, 1.8e9))
    scores.take_hint(3, QueueSlot(FRESH, 1.7e9))
    scores.take_hint(4, QueueSlot(FIT, 1.0))
    scores.fetched(1, {4: 1.0})
    scores.schedule_visit(1)
    assert sorted([1, 2, 3, 4], key=scores.score, reverse=True) == [1, 2, 3, 4]


def test_redirect_passes_its_better_queue_slot_on():
    scores = scores_of(1, 2, 3)
    scores.take_hint(2, QueueSlot(FRESH, 1.7e9))
    assert scores.record_alias(2, 3) == (3,)
    assert (scores.queue(2), scores.queue(3)) == (GONE, FRESH)
    assert scores.record_alias(3, 99) == ()


def test_redirect_to_a_page_that_was_fetched_leaves_its_revisit_alone():
    scores = scores_of(1, 2)
    scores.fetched(2, {})
    scores.schedule_visit(2)
    scores.take_hint(1, QueueSlot(FRESH, 1.7e9))
    assert scores.record_alias(1, 2) == ()
    assert scores.queue(2) == REVISIT, "or it would be fetched as a new page, and its links stored twice"


@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from([OTHER, ARCHIVE, FIT, FRESH]), st.floats(0, 1))))
def test_recalled_scores_equal_the_stored_ones(placed):
    scores = scores_of(*range(1, 10))
    for page, queue, value in placed:
        scores.take_hint(page, QueueSlot(queue, value))
    again = NewsScores()
    again.recall_totals(scores.totals())
    for page in range(1, 10):
        again.recall(page, scores.queue(page), scores.record(page))
        assert (again.queue(page), again.score(page)) == (scores.queue(page), scores.score(page))


def test_order_follows_its_setting():
    made = order("fit", EXPLORE_SHARE=0.25)
    assert isinstance(made.scores, NewsScores)
    assert taken(made.shares(), EVERYTHING, 100) == {OTHER: 25, ARCHIVE: 3, FIT: 72}
