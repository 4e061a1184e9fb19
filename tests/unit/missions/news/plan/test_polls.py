"""Pages that come back."""

import pytest

from crawlers.frontier.values import Lease
from crawlers.missions.news.news_items import FEED, PAGE, SITEMAP
from crawlers.missions.news.plan.poll_plan import PollLimits
from crawlers.missions.news.plan.polls import MAX_FAILURES, STALE_AFTER_S, Polls
from crawlers.missions.news.stored.news_tables import PollRow
from crawlers.store.writing.change_set import ChangeSet

NOW = 1e9
DAY_S = 86_400.0


def polls_of(*rows, now=NOW):
    found = Polls(1.0, PollLimits(60.0, 21_600.0, 43_200.0), most_pages=2)
    found.recall(rows, now)
    return found


def leased(page_id):
    return Lease(page_id, 1, 0, "", 1, 0, 0, None, NOW)


@pytest.fixture
def polls():
    return polls_of()


def test_failure_is_tried_again_and_a_hub_given_up_at_last(polls):
    changes = ChangeSet()
    polls.record_poll(leased(7), PAGE, NOW, changes, new_items=3, shown=30)
    due = [polls.record_failure(leased(7), PAGE, NOW, changes, "timeout") for _ in range(MAX_FAILURES)]
    assert all(time is not None and time > NOW for time in due[:-1])
    assert due[-1] is None
    assert polls.kind(7) == ""
    assert changes[PollRow][-1].problem == "timeout"


def test_feed_is_never_given_up(polls):
    changes = ChangeSet()
    polls.record_poll(leased(7), FEED, NOW, changes, new_items=3, shown=20)
    assert all(
        polls.record_failure(leased(7), PAGE, NOW + n * DAY_S, changes, "timeout") for n in range(3 * MAX_FAILURES)
    )


def test_hub_that_brings_nothing_new_fades(polls):
    changes = ChangeSet()
    polls.record_poll(leased(7), PAGE, NOW, changes, new_items=1, shown=30)
    assert polls.record_poll(leased(7), PAGE, NOW + STALE_AFTER_S, changes, new_items=0, shown=30) is not None
    assert polls.record_poll(leased(7), PAGE, NOW + STALE_AFTER_S + 1, changes, new_items=0, shown=30) is None


def test_a_site_has_so_many_hubs_and_any_number_of_feeds(polls):
    changes = ChangeSet()
    for page_id in (1, 2, 3):
        polls.record_poll(leased(page_id), FEED, NOW, changes, new_items=0, shown=20)
    assert polls.has_room(1)
    for page_id in (4, 5):
        polls.record_poll(leased(page_id), PAGE, NOW, changes, new_items=0, shown=20)
    assert not polls.has_room(1)
    assert polls.has_room(2)
    polls.forget(4)
    assert polls.has_room(1)


@pytest.mark.parametrize("kind", [FEED, PAGE])
def test_clock_that_was_set_back_a_year_makes_no_poll_wait_for_a_year(polls, kind):
    changes = ChangeSet()
    for hour in range(6):
        polls.record_poll(leased(7), kind, NOW + hour * 3600.0, changes, new_items=5, shown=20)
    now = NOW - 365 * DAY_S
    again = polls_of(changes[PollRow][-1], now=now)
    for minutes in range(60, 60 * 24, 60):
        polled_at = now + minutes * 60.0
        due_at = again.record_poll(leased(7), kind, polled_at, changes, new_items=0, shown=20)
        assert due_at is not None
        assert polled_at + 60.0 <= due_at <= polled_at + 21_600.0
        assert changes[PollRow][-1].newest_at <= polled_at


def test_run_that_begins_while_a_feed_fails_knows_its_last_success(polls):
    changes = ChangeSet()
    for hour in range(6):
        polls.record_poll(leased(7), FEED, NOW + hour * 3600.0, changes, new_items=5, shown=20)
    failed_at = NOW + 8 * 3600.0
    polls.record_failure(leased(7), FEED, failed_at, changes, "timeout")
    assert changes[PollRow][-1].polled_at == failed_at, "the last poll, for people"
    again = polls_of(changes[PollRow][-1], now=NOW + DAY_S)
    due = [
        one.record_poll(leased(7), FEED, NOW + 10 * 3600.0, ChangeSet(), new_items=5, shown=20)
        for one in (polls, again)
    ]
    assert due[0] == pytest.approx(due[1])


def test_what_failed_at_first_is_what_it_turns_out_to_be(polls):
    polls.record_failure(leased(7), FEED, NOW, ChangeSet(), "timeout")
    polls.record_poll(leased(7), SITEMAP, NOW + 60, ChangeSet(), new_items=0, shown=20)
    assert polls.kind(7) == SITEMAP
    polls.record_poll(leased(8), PAGE, NOW, ChangeSet(), new_items=3, shown=20)
    polls.record_poll(leased(8), FEED, NOW + 60, ChangeSet(), new_items=0, shown=20)
    polls.record_poll(leased(9), PAGE, NOW, ChangeSet(), new_items=3, shown=20)
    assert polls.has_room(1)


def test_want_of_polls_is_told_when_it_begins_and_each_hour(polls, caplog, monkeypatch):
    told = []
    for minute, warning in ((0, ""), (1, "5 too few"), (2, "8 too few"), (60, "9 too few"), (61, "others")):
        monkeypatch.setattr(polls, "_warning", warning)
        polls.warn(NOW + 60 * minute)
        told.append(len(caplog.messages))
    assert told == [0, 1, 1, 1, 2]
