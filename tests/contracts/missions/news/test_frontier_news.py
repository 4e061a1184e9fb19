"""The frontier's contract: queue slots of URLs, and scheduled revisits."""

import json

import pytest

from crawlers.bandits.index_rule import Best
from crawlers.frontier.scoring import ScoredRows
from crawlers.frontier.stored_starts import read_starts
from crawlers.frontier.values import Candidate, Decision
from crawlers.items import GONE, OTHER, REVISIT, Page, State
from crawlers.missions.news.plan.news_scores import ARCHIVE, FIT, FRESH, QueueSlot, by_fit
from crawlers.missions.news.stored.news_tables import NewsScoreRow, PollRow, news_score
from crawlers.store.schema.tables import PullRow
from crawlers.store.sites.site_opening import SiteRow
from crawlers.store.writing.change_set import ChangeSet
from tests.contracts.site import NOW, Site
from tests.support.frontier_state import pending_of
from tests.support.orders import order
from tests.support.stored_rows import execute, new_page, write_rows

SHARES = {"explore": 0.0, "archive": 0.0}


def place_of(target):
    path = target.url.rpartition("/")[2]
    queue = {"a": FIT, "p": ARCHIVE}.get(path[:1], OTHER)
    return QueueSlot(queue, 1.0 if queue == FIT else 0.0)


def news_site(engine, site_id=None, **options):
    frontier = engine.frontier(by_fit(**{**SHARES, **options}))
    return Site(engine, frontier, id=site_id, parallel=100)


def end(site, lease, *links, revisit_at=None, announced=None, now=NOW):
    targets = [site.target(link) for link in links]
    seen = {"content_hash": b"%d" % int(now), "links": [(target, 1) for target in targets]}
    page = Page(lease.id, lease.url, lease.level, State.DONE, 200, **seen)
    slots = {target.key: place_of(target) for target in site.frontier.discovery.new_targets(targets, lease.level + 1)}
    slots |= {site.target(path).key: slot for path, slot in (announced or {}).items()}
    changes = ChangeSet()
    if revisit_at is not None:
        rate = json.dumps([0.0, 0.0, 20])
        changes.add(PollRow(lease.id, site.id, "page", revisit_at, now, 1, 0, 0, None, rate, None))
    decision = Decision(page, slots, revisit_at=revisit_at, records_changes=revisit_at is None, changes=changes)
    site.frontier.acknowledge(lease, decision, now)


def begun(site, *links, **more):
    site.frontier.add([Candidate(site.id, site.target("/"), hint=QueueSlot(FRESH, 4e9))], NOW)
    end(site, site.one(), *links, **more)


def drained(site, now=NOW):
    paths = []
    while leases := site.frontier.lease(now, 1):
        paths += site.paths(leases)
        end(site, leases[0], now=now)
    return paths


def test_share_of_the_downloads_goes_to_other_urls(engine):
    site = news_site(engine, explore=0.1, archive=0.2)
    begun(site, *(f"/{kind}{number:02}" for kind in "asp" for number in range(40)))
    first = "".join(path[1] for path in drained(site)[:39])
    assert (first.count("a"), first.count("s"), first.count("p")) == (27, 4, 8)  # and the home page


def test_fresh_urls_come_first_and_the_newest_of_them_at_once(engine):
    site = news_site(engine)
    announced = {path: QueueSlot(FRESH, date) for path, date in (("/x1", 5.0), ("/a9", 7.0), ("/x2", 6.0))}
    begun(site, "/a1", "/x1", "/a9", "/x2", announced=announced)
    assert drained(site) == ["/a9", "/x2", "/x1", "/a1"]


def test_known_url_that_is_announced_becomes_fresh(engine):
    site = news_site(engine)
    begun(site, "/a1", "/x1", "/feed")
    feed = next(lease for lease in site.frontier.lease(NOW, 9) if lease.url.endswith("/feed"))
    for lease in [
        lease for lease in map(site.frontier.leases.get, range(1, 9)) if lease is not None and lease is not feed
    ]:
        site.frontier.release(lease, NOW)
    end(site, feed, "/x1", announced={"/x1": QueueSlot(FRESH, NOW)})
    assert drained(site) == ["/x1", "/a1"]


def test_only_revisits_remain_when_nothing_waits_rests_or_is_leased(engine):
    site = news_site(engine)
    begun(site, "/a1", "/a2", revisit_at=NOW + 60)
    assert not site.frontier.only_revisits(NOW), "two wait"
    leased, released = site.lease()
    site.frontier.release(released, NOW + 90, "no answer", failed=True)
    assert not site.frontier.only_revisits(NOW), "one is leased, and one is tried again"
    end(site, leased)
    assert not site.frontier.only_revisits(NOW), "one is tried again"
    site.frontier.lease(NOW + 90, 1)  # the scheduled revisit, which is due before it
    end(site, site.one(NOW + 90), now=NOW + 90)
    (again,) = [lease for lease in map(site.frontier.leases.get, range(1, 9)) if lease is not None]
    assert not site.frontier.only_revisits(NOW + 90), "it is leased"
    end(site, again, revisit_at=NOW + 150, now=NOW + 90)
    returns = [site.frontier.only_revisits(NOW + after) for after in (90, 149, 150, 151)]
    assert returns == [True, True, False, False]


def test_page_is_revisited_at_its_times(engine):
    site = news_site(engine)
    begun(site, "/a1", revisit_at=NOW + 60)
    assert drained(site) == ["/a1"]
    assert site.frontier.next_due(NOW) == 60
    assert site.frontier.schedule.is_waiting
    for visit in (60, 120):
        lease = site.one(NOW + visit)
        assert lease.is_revisit
        end(site, lease, "/a1", f"/a{visit}", revisit_at=NOW + visit + 60, now=NOW + visit)
        assert drained(site, NOW + visit) == [f"/a{visit}"]
    assert {path for path, row in site.rows().items() if row["state"] == State.DONE} == {"/", "/a1", "/a60", "/a120"}


def test_failed_page_is_revisited(engine):
    site = news_site(engine)
    begun(site, revisit_at=NOW + 60)
    lease = site.one(NOW + 60)
    page = Page(lease.id, lease.url, 0, State.FAILED, reason="timeout")
    site.frontier.acknowledge(lease, Decision(page, revisit_at=NOW + 90), NOW + 60)
    assert site.frontier.next_due(NOW + 60) == 30
    assert site.rows()["/"]["state"] == State.DONE


@pytest.mark.both_stores
def test_queue_slots_and_times_of_revisits_survive_a_kill(engine):
    site = news_site(engine)
    begun(site, "/s1", "/a1", "/x1", revisit_at=NOW + 60)
    again = news_site(engine, site.id)
    assert [lease.url.removeprefix(again.root) for lease in again.frontier.lease(NOW, 1)] == ["/a1"]
    assert "/" in again.paths(again.frontier.lease(NOW + 60, 9))


def test_clock_that_was_set_back_makes_no_revisit_wait_longer(engine):
    site, later = news_site(engine), NOW + 365 * 86_400.0
    begun(site, revisit_at=later + 60, now=later)
    again = news_site(engine, site.id)
    assert again.frontier.lease(NOW + 59, 9) == []
    assert again.paths(again.frontier.lease(NOW + 60, 9)) == ["/"]


def test_clock_that_was_set_forward_lets_every_revisit_be_due_once(engine):
    site, later = news_site(engine), NOW + 365 * 86_400.0
    begun(site, revisit_at=NOW + 60)
    again = news_site(engine, site.id)
    assert again.paths(again.frontier.lease(later, 9)) == ["/"]
    assert again.frontier.lease(later, 9) == []


def test_redirect_passes_its_queue_slot_on(engine):
    site = news_site(engine)
    begun(site, "/a1", "/a2", "/s1")
    site.end(site.one(), State.MOVED, moved_to="/moved")
    assert sorted(drained(site)[:2]) == ["/a2", "/moved"]


@pytest.mark.parametrize("paths", [("/x3",), ("/x3", "/a1"), ("/x1", "/x2", "/x3", "/a1", "/s1")])
def test_pages_that_wait_although_they_were_given_up_are_leased(engine, paths):
    site = news_site(engine)
    begun(site, "/x1", "/x2", "/x3", "/a1", "/s1")
    ids = [site.rows()[path]["id"] for path in paths]
    execute(engine.database, news_score.update().where(news_score.c.page_id.in_(ids)).values(queue=-1))
    assert sorted(drained(news_site(engine, site.id))) == ["/a1", "/s1", "/x1", "/x2", "/x3"]


def test_each_url_is_leased_once(engine):
    site = news_site(engine, explore=0.2, archive=0.2)
    begun(site, *(f"/{kind}{number}" for kind in "asp" for number in range(30)))
    paths = drained(site)
    assert len(paths) == len(set(paths)) == 90


def test_finished_page_can_be_fetched_once_more(engine):
    site = news_site(engine)
    begun(site, "/x1", "/x2", "/x3")
    first = {lease.url.removeprefix(site.root): lease.id for lease in site.frontier.lease(NOW, 9)}
    for page_id in first.values():
        lease = site.frontier.leases.get(page_id)
        assert lease is not None
        end(site, lease)
    site.frontier.fetch_again(site.root, [(first[path], None, NOW) for path in ("/x1", "/x2")], NOW)
    site.frontier.fetch_again(site.root, [(first["/x1"], None, NOW), (99, None, NOW)], NOW)
    assert pending_of(site.frontier) == 2
    leases = site.frontier.lease(NOW, 9)
    assert {(lease.id, lease.is_revisit) for lease in leases} == {(first["/x1"], True), (first["/x2"], True)}
    for lease in leases:
        end(site, lease, "/x4", now=NOW + 1)
    assert drained(site) == ["/x4"]
    assert not site.frontier.schedule.is_waiting


def test_scheduled_revisit_is_due_at_once_and_one_in_flight_is_followed_by_another(engine):
    site = news_site(engine)
    begun(site, "/x1")
    first = site.one()
    end(site, first, revisit_at=NOW + 60)
    site.frontier.fetch_again(site.root, [(first.id, None, NOW)], NOW)
    (second,) = site.frontier.lease(NOW, 9)
    assert (second.id, second.is_revisit) == (first.id, True)
    site.frontier.fetch_again(site.root, [(first.id, None, NOW)], NOW)
    end(site, second, revisit_at=NOW + 60)
    (third,) = site.frontier.lease(NOW, 9)
    assert (third.id, third.is_revisit) == (first.id, True)
    end(site, third, revisit_at=NOW + 60)
    assert site.frontier.lease(NOW, 9) == []
    assert site.frontier.next_due(NOW) == 60


def test_page_to_be_fetched_once_more_survives_a_kill(engine):
    site = news_site(engine)
    begun(site, "/x1")
    lease = site.one()
    end(site, lease)
    site.frontier.fetch_again(site.root, [(lease.id, None, NOW)], NOW)
    again = news_site(engine, site.id)
    assert again.paths(again.frontier.lease(NOW, 9)) == ["/x1"]


def test_url_that_is_found_nearer_leaves_its_site_asleep_when_nothing_waits(engine):
    site = news_site(engine)
    begun(site, "/a1", revisit_at=NOW + 60)
    site.frontier.add([Candidate(site.id, site.target("/a1"), 0, hint=QueueSlot(FIT, 1.0))], NOW)
    assert drained(site) == ["/a1"]
    assert site.frontier.next_due(NOW) == 60


def test_pages_of_an_order_with_slots_come_back_in_their_slots(engine):
    site = Site(engine, engine.frontier(order("fit"), Best()))
    site.add("/")
    lease = site.one()
    targets = [site.target(path) for path in ("/late/", "/fresh/")]
    page = Page(lease.id, lease.url, 0, State.DONE, 200, links=[(one, 1) for one in targets])
    slots = {targets[0].key: QueueSlot(FIT, 1.0), targets[1].key: QueueSlot(FRESH, NOW)}
    site.frontier.acknowledge(lease, Decision(page, slots), NOW)
    site.frontier.store.submit(site.frontier.close_site(site.id))
    site.frontier.store.flush()
    assert not site.frontier.schedule.is_waiting
    site.frontier.open_site(SiteRow(site.id, site.root, 9, None, 0.0), NOW)
    assert [one.url.removeprefix(site.root) for one in site.frontier.lease(NOW, 9)] == ["/fresh/", "/late/"]


@pytest.mark.both_stores
def test_scheduled_revisits_are_in_order_of_their_times(engine):
    times = {1: 30.0, 2: 10.0, 3: 20.0, 4: 10.0, 5: 1.0}
    for number, due_at in times.items():
        poll = PollRow(number, 1, "page", due_at, 0.0, 1, 0, 0, None, "", None)
        score = NewsScoreRow(number, 1, GONE if number == 5 else REVISIT, 0.0, 0.0)
        write_rows(engine.database, new_page(number, 1, State.DONE), poll, score)
    rows = ScoredRows(engine.frontier().store, "news_score", ())
    found = [(entry.id, due_at, wait_s) for entry, due_at, wait_s in rows.due([2, 1])[1]]
    assert found == [(2, 10.0, 10.0), (4, 10.0, 10.0), (3, 20.0, 20.0), (1, 30.0, 30.0)]
    assert rows.due([2]) == {}


def test_shares_count_the_pulls_of_earlier_runs(engine):
    write_rows(engine.database, PullRow(4, 3, 2.0, 9.0), PullRow(4, 1, 0.0, 9.0))
    store = engine.frontier().store
    (start,) = read_starts(store, order("fit"), [4], room=100, head_urls=100, has_pulls=True)
    assert start.shares is not None
    assert start.shares.choose([OTHER, FIT]) == FIT, "two pulls are more than the share of other URLs"
