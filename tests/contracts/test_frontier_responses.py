"""The frontier's contract: how a lease ends, by a page, a redirect or a release."""

import pytest

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
    found = {path: (row["attempts"], row["fetched_at"]) for path, row in site.rows().items()}
    assert found == {"/rejected/": (0, None), "/read/": (1, NOW), "/failed/": (1, None)}


# Releases


def test_released_url_is_leased_again_before_its_successors(site):
    site.add("/a/", "/b/")
    site.frontier.release(site.one(), NOW)
    assert site.paths(site.lease()) == ["/a/", "/b/"]


def test_only_failures_count_as_attempts(site):
    site.add("/a/")
    site.frontier.release(site.one(), NOW)
    assert site.one().attempts == 0
    lease = next(iter(site.frontier.leases.values()))
    site.frontier.release(lease, NOW, "no answer", failed=True)
    again = site.one()
    assert (again.attempts, lease.attempts) == (1, 0), "a lease never changes"
    row = site.rows()["/a/"]
    assert (row["state"], row["attempts"], row["reason"]) == (State.WAITING, 1, "no answer")


def test_lease_ends_once(site):
    site.add("/a/")
    early = site.one()
    site.frontier.release(early, NOW)
    present = site.one()
    with pytest.raises(FrontierError):
        site.end(early)
    assert site.frontier.leases.get(present.id) is present
    site.end(present)
    for end in (site.end, lambda lease: site.frontier.release(lease, NOW)):
        with pytest.raises(FrontierError, match="has already ended"):
            end(present)
    assert counts_of(site.frontier)[site.id] == {State.DONE: 1}


def test_unknown_site_is_a_frontier_error_and_adds_nothing(site):
    good = Candidate(site.id, site.target("/a/"))
    with pytest.raises(FrontierError, match="site 99 is not open"):
        site.frontier.add([good, good._replace(site_id=99)], NOW)
    assert site.lease() == []
    assert site.add("/a/") == 1
