"""Workers of one crawl share its sites and its page budget; tests/contracts/test_claims.py tries further orders."""

import pytest
from sqlalchemy import insert, select, text, update

from crawlers.errors import ClaimsLost
from crawlers.items import REVISIT
from crawlers.store import worker_rows
from crawlers.store.reading import crawls
from crawlers.store.schema.message_rows import Message
from crawlers.store.schema.tables import ImportanceRow, PullRow, SiteRelease, SourceRelease, crawl, pull, site
from crawlers.store.writing import pulls
from crawlers.store.writing.pulls import Pull, pulls_of
from crawlers.workers import exchange
from tests.support.sharing_workers import Crawl
from tests.support.stored_rows import begin, committed, execute, new_page, read


def ending(found):
    """Return whether the crawl is over, this worker ends it, and its budget is spent."""
    return found.is_over, found.is_elected, found.is_budget_exhausted


@pytest.fixture
def shared(database):
    return Crawl(database)


# Sites ----------------------------------------------------------------------------------------------


def test_dead_worker_is_lost_but_nobody_declares_himself_so(shared):
    second = shared.join()
    assert shared.lose(30.0, dead=(second,), me=second) == []
    assert shared.lose(30.0, dead=(shared.first, second), me=second) == [shared.first]
    assert shared.lose(99.0, dead=(shared.first, second)) == [second]


def test_lost_worker_can_do_nothing_more(shared):
    shared.lose(1.0, dead=(shared.first,))
    for act in (shared.fence, shared.round, shared.leave):
        with pytest.raises(ClaimsLost, match=f"worker {shared.first} was declared lost"):
            act(shared.first)
    with pytest.raises(ClaimsLost):
        crawls.end(shared.database, shared.id, finished=True, reason="finished", now=2.0, worker_id=shared.first)


def test_worker_in_a_transaction_is_not_lost(postgresql):
    shared = Crawl(postgresql)
    with postgresql.write() as connection:
        worker_rows.fence(connection, shared.first, 1.0, idle_s=60.0)
        worker_rows.fence(connection, shared.first, 1.0)
        assert shared.lose(99.0, dead=(shared.first,)) == []
        assert connection.execute(text("SHOW idle_in_transaction_session_timeout")).scalar() == "1min"
    assert shared.lose(99.0, dead=(shared.first,)) == [shared.first]


def revisit(to, queue=REVISIT):
    return ImportanceRow(to, to, queue, 0.0, 0.0, 0.0, 0.0, 0.0)


def sent(to):
    return Message(1, f"http://s{to - 1}.test", 9, None, 7, "http://a.test/7", 1, 0, 1, 0.0, 0.0, 0.0, None)


@pytest.mark.both_stores
@pytest.mark.parametrize("row", [revisit, sent])
def test_revisits_polls_and_messages_are_work(shared, row):
    second = shared.join()
    shared.end(*shared.sites)
    shared.give_up(shared.sites[2])
    shared.write(row(shared.sites[1]), revisit(shared.sites[2], REVISIT + 1))
    assert shared.round(second, wanted_sites=9).claimed == [], "of another site, and in another queue"
    shared.write(row(shared.sites[2]))
    assert shared.round(second, wanted_sites=9).claimed == [shared.sites[2]]


def test_sites_that_the_input_no_longer_names_are_not_work(shared):
    a, b, c, _ = shared.sites
    second = shared.join()
    shared.end(a)
    execute(shared.database, update(site).where(site.c.id != a).values(is_open=False))
    execute(shared.database, update(site).where(site.c.id.in_([b, c])).values(source_id=a))
    shared.give_up(*shared.sites)
    assert shared.round(second, wanted_sites=9, is_idle=True).claimed == [], "nothing of the open site waits"
    shared.leave(shared.first)
    assert ending(shared.round(second, is_idle=True)) == (True, True, False)
    shared.write(new_page(99, a))
    assert shared.round(second, wanted_sites=9, is_idle=True).claimed == [a], "without the others of its source"


def test_what_is_free_is_left_to_those_that_have_nothing_to_do(shared):
    second, third = shared.join(), shared.join()
    shared.round(second, is_idle=True)
    shared.give_up(*shared.sites[2:])
    assert shared.round(third, wanted_sites=9).claimed == []
    assert shared.round(second, wanted_sites=9, is_idle=True).claimed == shared.sites[2:]
    shared.give_up(shared.sites[3])
    assert shared.round(third, wanted_sites=9).claimed == shared.sites[3:]


@pytest.mark.parametrize(
    ("others", "share", "idle", "claimed"), [(1, 1, 0, 4), (1, 1, 1, 2), (1, 3, 0, 2), (0, 4, 0, 1), (3, 2, 0, 4)]
)
def test_worker_that_begins_claims_its_share(shared, others, share, idle, claimed):
    second = shared.join()
    shared.give_up(*shared.sites)
    if idle:
        shared.round(shared.first, is_idle=True)
    assert len(committed(exchange.claim_share, shared.database, shared.id, second, others, share)) == claimed


def test_sites_without_work_are_counted_if_there_are_very_many(shared, monkeypatch):
    monkeypatch.setattr(exchange, "MOST_COUNTED", 2)
    second = shared.join()
    shared.end(shared.sites[0])
    shared.give_up(*shared.sites)
    assert committed(exchange.claim_share, shared.database, shared.id, second, 1, 3) == shared.sites[1:3], (
        "half of four"
    )


def test_new_site_of_a_source_is_claimed_by_the_worker_that_holds_the_source(shared):
    a, b, _, _ = shared.sites
    execute(shared.database, update(site).where(site.c.id == b).values(source_id=a, worker_id=None))
    assert shared.round(shared.join()).claimed == []
    assert shared.round(shared.first).claimed == [b]
    assert set(shared.holders()) == {shared.first}


@pytest.mark.both_stores
def test_given_up_source_is_free_with_its_new_sites(shared):
    a, b, *_ = shared.sites
    execute(shared.database, update(site).where(site.c.id == b).values(source_id=a))
    shared.write(SourceRelease(a), SiteRelease(a, 0.5, None))
    assert shared.holders() == [None, None, shared.first, shared.first]


def test_sites_that_another_worker_is_claiming_are_skipped(postgresql):
    shared = Crawl(postgresql)
    second, third = shared.join(), shared.join()
    shared.give_up(*shared.sites)
    with postgresql.write() as one, postgresql.write() as other:
        assert exchange.claim(one, shared.id, second, 2) == shared.sites[:2]
        assert exchange.claim(other, shared.id, third, 4) == shared.sites[2:]
    assert shared.holders() == [second, second, third, third]


# The budget -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("budget", "granted"), [(100, 100), (0, -1)])
def test_worker_alone_is_granted_the_whole_budget(database, budget, granted):
    shared = Crawl(database, budget=budget)
    assert shared.round(shared.first).granted == granted


@pytest.mark.both_stores
def test_pulls_that_no_worker_counted_are_part_of_the_budget(database):
    shared = Crawl(database, budget=100)
    shared.write(PullRow(shared.sites[0], 1, 0.0, 1.0), PullRow(shared.sites[0], 2, 0.0, 1.0))
    again = begin(database, PAGE_BUDGET=100)
    assert shared.round(again.worker_id).granted == 98
    shared.write(PullRow(shared.sites[0], 3, 0.0, 1.0, again.worker_id))
    shared.fence(again.worker_id, pulls=1)
    third = begin(database, PAGE_BUDGET=100)
    assert shared.round(third.worker_id).granted == 97


@pytest.mark.both_stores
def test_attempts_of_earlier_runs_count_if_no_pulls_are_stored(database):
    shared = Crawl(database, budget=100)
    shared.end(*shared.sites[:3])
    assert read(pulls.uncounted_pulls, database, shared.id) == 3
    shared.write(PullRow(shared.sites[0], 1, 0.0, 1.0))
    assert read(pulls.uncounted_pulls, database, shared.id) == 1, "pulls are what was counted"
    shared.fence(shared.first, pulls=5)
    assert read(pulls.uncounted_pulls, database, shared.id) == 0


def test_pulls_of_pages_in_flight_are_not_at_hand(database):
    shared = Crawl(database, budget=1000)
    second = shared.join()
    shared.round(shared.first, best_index=1.0)
    assert shared.round(second, best_index=1.0, wanted_pulls=8).granted == 8
    assert shared.round(second, best_index=1.0, wanted_pulls=8).granted == 8
    assert shared.round(second, best_index=1.0, wanted_pulls=8, leases=5).granted == 13


def test_everything_may_be_given_back(database):
    shared = Crawl(database, budget=1000)
    second = shared.join()
    assert shared.round(second, best_index=1.0).granted == 32
    assert shared.round(second, limit=0, wanted_pulls=0).granted == 0


def test_lost_workers_and_those_without_urls_take_no_part_of_the_budget(database):
    shared = Crawl(database, budget=100)
    second, third = shared.join(), shared.join()
    shared.round(third, best_index=9.0, wanted_pulls=0)
    shared.lose(2.0, dead=(third,))
    assert shared.round(second, best_index=1.0, index_share=0.9, wanted_pulls=99).granted == 50, "half: the first rests"


# Pulls of others ------------------------------------------------------------------------------------


@pytest.mark.both_stores
def test_round_returns_the_new_pulls_of_others(shared):
    a, b, *_ = shared.sites
    second = shared.join()
    shared.write(PullRow(a, a, 1.0, 1.0, shared.first), PullRow(b, b, 2.0, 1.0, shared.first))
    known = read(pulls.last_pulls, shared.database, shared.id)
    assert set(known) == {shared.first}
    assert list(pulls_of(shared.database, shared.id, known)) == [Pull(a, 1.0), Pull(b, 2.0)]
    assert list(pulls_of(shared.database, shared.id, {})) == []
    shared.write(PullRow(b, b, 3.0, 1.0, second), *(PullRow(a, a, reward, 1.0, shared.first) for reward in (4.0, 5.0)))
    learnt = shared.round(second, after_pulls=known)
    assert learnt.pulls == [Pull(a, 4.0), Pull(a, 5.0)]
    assert shared.round(second, after_pulls=learnt.last_pulls).pulls == []
    assert shared.round(shared.first, after_pulls={}).pulls == [Pull(b, 3.0)]
    assert shared.round(shared.first).pulls == []


def test_pull_that_is_committed_late_is_not_missed(postgresql):
    shared = Crawl(postgresql)
    second, third = shared.join(), shared.join()
    a = shared.sites[0]
    with postgresql.write() as late:
        late.execute(insert(pull).values(site_id=1, page_id=1, reward=5.0, ended_at=0.0, worker_id=second))
        shared.write(PullRow(a, a, 6.0, 1.0, third))
        early = shared.round(shared.first, after_pulls={})
    assert [one.reward for one in early.pulls] == [6.0]
    assert [one.reward for one in shared.round(shared.first, after_pulls=early.last_pulls).pulls] == [5.0]


# The end --------------------------------------------------------------------------------------------


def test_worker_that_claims_sites_opens_them_before_it_ends_the_crawl(shared):
    shared.end(*shared.sites)
    shared.give_up(shared.sites[0])
    found = shared.round(shared.first, wanted_sites=9, is_idle=True)
    assert (found.claimed, ending(found)) == ([shared.sites[0]], (False, False, False))
    for is_over in (False, True):
        assert (read(worker_rows.finisher, shared.database, shared.id) is not None) == is_over
        assert shared.round(shared.first, is_idle=True).is_elected


def test_first_reason_to_stop_is_kept(shared):
    for reason in ("timeout", "stop_file", None):
        committed(worker_rows.ask, shared.database, shared.id, worker_rows.STOP, reason)
        assert shared.round(shared.first).reason == "timeout"


def test_worker_that_claimed_sites_is_no_longer_idle(shared):
    second = shared.join()
    shared.round(second, is_idle=True)
    assert shared.round(shared.first).idle == 1
    shared.give_up(shared.sites[0])
    assert shared.round(second, wanted_sites=9, is_idle=True).claimed
    assert shared.round(shared.first).idle == 0


def test_worker_that_ends_before_the_last_one_leaves_the_crawl_running(shared):
    shared.join()
    assert not crawls.end(shared.database, shared.id, finished=False, reason="x", now=1.0, worker_id=shared.first)
    assert shared.database.scalar(select(crawl.c.state)) == "running"
    assert shared.holders() == [None] * 4
