"""Shares of a site's downloads."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from crawlers.missions.news.plan.news_scores import ARCHIVE, FIT, FRESH, QueueShares
from crawlers.ranking.page_scores import OTHER, REVISIT

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
