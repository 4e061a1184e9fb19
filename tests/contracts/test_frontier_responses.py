"""The frontier's contract, for every engine: how a lease ends, by a page, a redirect or a release."""

import pytest

from crawlers.algorithms.ranking.page_orders import MAX_HOPS
from crawlers.errors import FrontierError
from crawlers.frontier.values import Candidate
from crawlers.items import State
from tests.contracts.site import NOW
from tests.support.frontier_state import counts_of


def test_attempts_are_requests_so_a_rejected_url_adds_none(site):
    site.add("/rejected/", "/read/", "/failed/")
    rejected, read, failed = site.lease()
    site.end(rejected, State.REJECTED)
    site.end(read)
    site.frontier.release(failed, NOW + 5, "no answer", failed=True)
    site.end(site.one(NOW + 5), State.REJECTED)
    rows = site.rows()
    assert {path: (row["attempts"], row["fetched_at"]) for path, row in rows.items()} == {
        "/rejected/": (0, None),
        "/read/": (1, NOW),
        "/failed/": (1, None),
    }


# Redirects


def test_redirect_keeps_the_level_and_adds_a_hop(site):
    site.add("/old/", level=3)
    old = site.one()
    site.end(old, State.MOVED, moved_to="/new/")
    lease = site.one()
    assert (site.paths([lease]), lease.level, lease.hops) == (["/new/"], 3, 1)
    row = site.rows()["/old/"]
    assert (row["state"], row["moved_to"]) == (State.MOVED, lease.id)


def test_redirect_to_a_known_page_points_to_it(site):
    site.add("/old/", "/new/")
    old, new = site.lease()
    site.end(new)
    site.end(old, State.MOVED, moved_to="/new")
    assert site.rows()["/old/"]["moved_to"] == new.id
    assert site.lease() == []


def test_redirect_to_another_variant_requests_the_same_page_again(site):
    site.add("/a")
    first = site.one()
    site.end(first, State.MOVED, moved_to="/a/?x=")
    again = site.one()
    assert (again.id, site.paths([again]), again.level, again.hops) == (first.id, ["/a/?x="], 0, 1)
    site.end(again)
    assert list(site.rows()) == ["/a/?x="]
    assert counts_of(site.frontier)[site.id] == {State.DONE: 1}


def test_variant_that_the_server_redirects_to_is_kept(site):
    site.add("/a")
    site.end(site.one(), State.MOVED, moved_to="/a/?x=")
    site.add("/a/", level=0, hops=1)
    assert site.drain() == ["/a/?x="]


def test_redirect_to_the_same_url_fails(site):
    site.add("/a/")
    page = site.end(site.one(), State.MOVED, moved_to="/a/")
    row = site.rows()["/a/"]
    assert (page.state, row["state"], row["reason"]) == (State.FAILED, State.FAILED, "redirect_to_itself")


@pytest.mark.parametrize("step", ["/{}/", "/a/?x{}="], ids=["pages", "variants"])
def test_endless_redirects_are_aborted(site, step):
    site.add("/a")
    asked = 0
    while leases := site.lease():
        asked += 1
        site.end(leases[0], State.MOVED, moved_to=step.format(asked))
    assert asked == MAX_HOPS + 1
    failed = [row for row in site.engine.rows(site.id) if row["state"] == State.FAILED]
    assert [row["reason"] for row in failed] == ["many_redirects 20"]


def test_redirects_in_a_circle_end(site):
    site.add("/a/")
    site.end(site.one(), State.MOVED, moved_to="/b/")
    site.end(site.one(), State.MOVED, moved_to="/a/")
    assert site.lease() == []
    rows = site.rows()
    assert (rows["/a/"]["moved_to"], rows["/b/"]["moved_to"]) == (rows["/b/"]["id"], rows["/a/"]["id"])


# Releases


def test_released_url_is_leased_again_before_its_successors(site):
    site.add("/a/", "/b/")
    lease = site.one()
    site.frontier.release(lease, NOW)
    assert site.paths(site.lease()) == ["/a/", "/b/"]


def test_released_url_rests_until_the_given_time(site):
    site.add("/a/", "/b/")
    site.frontier.release(site.one(), NOW + 5)
    assert site.drain() == ["/b/"]
    assert site.frontier.next_due(NOW) == 5
    assert site.lease(NOW + 4.9) == []
    assert site.paths(site.lease(NOW + 5)) == ["/a/"]


def test_only_failures_count_as_attempts(site):
    site.add("/a/")
    site.frontier.release(site.one(), NOW)
    assert site.one().attempts == 0
    lease = next(iter(site.frontier._leases.values()))
    site.frontier.release(lease, NOW, "no answer", failed=True)
    again = site.one()
    assert (again.attempts, lease.attempts) == (1, 0), "a lease never changes"
    row = site.rows()["/a/"]
    assert (row["state"], row["attempts"], row["reason"]) == (State.WAITING, 1, "no answer")


def test_lease_ends_once(site):
    site.add("/a/")
    lease = site.one()
    site.end(lease)
    with pytest.raises(FrontierError, match="has already ended"):
        site.end(lease)
    with pytest.raises(FrontierError, match="has already ended"):
        site.frontier.release(lease, NOW)
    assert counts_of(site.frontier)[site.id] == {State.DONE: 1}


def test_earlier_lease_of_a_page_does_not_end_the_current_one(site):
    site.add("/a/")
    early = site.one()
    site.frontier.release(early, NOW)
    present = site.one()
    with pytest.raises(FrontierError):
        site.end(early)
    assert site.frontier.leased(present.id) is present


def test_unknown_site_is_a_frontier_error_and_adds_nothing(site):
    good = Candidate(site.id, site.target("/a/"))
    with pytest.raises(FrontierError, match="site 99 is not open"):
        site.frontier.add([good, good._replace(site_id=99)], NOW)
    assert site.lease() == []
    assert site.add("/a/") == 1
