"""The frontier's contract: the politeness towards hosts, and the time of the next lease."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlers.items import State
from tests.contracts.site import NOW, Site

# Politeness


def test_no_more_leases_at_a_time_than_the_host_allows(engine):
    site = Site(engine, parallel=2)
    site.add("/a/", "/b/", "/c/")
    first, _ = site.lease()
    assert site.lease() == []
    site.end(first)
    assert site.paths(site.lease()) == ["/c/"]


def test_starts_keep_the_delay_of_the_host(engine):
    site = Site(engine, parallel=9, delay_s=2.0)
    site.add("/a/", "/b/", "/c/")
    assert len(site.lease(NOW)) == 1
    assert site.frontier.next_due(NOW + 0.5) == 1.5
    assert site.lease(NOW + 1.9) == []
    assert len(site.lease(NOW + 2.0)) == 1
    assert len(site.lease(NOW + 4.5)) == 1


def test_host_that_requests_a_rest_does_not_delay_others(engine):
    frontier = engine.frontier()
    tired, fresh = Site(engine, frontier), Site(engine, frontier)
    tired.add("/a/", "/b/")
    fresh.add("/a/", "/b/")
    first, second = frontier.lease(NOW, 2)
    frontier.release(first, frontier.site(tired.id).gate.back_off(NOW, 60.0), "status 429", failed=True)
    fresh.end(second)
    assert [lease.site_id for lease in frontier.lease(NOW + 1, 9)] == [fresh.id]
    fresh.end(next(iter(frontier.leases.values())))
    assert frontier.lease(NOW + 59.9, 9) == []
    assert frontier.next_due(NOW) == 60.0
    assert tired.paths(frontier.lease(NOW + 60, 9)) == ["/a/"]


def test_rejected_lease_costs_the_host_no_delay(engine):
    site = Site(engine, delay_s=10.0)
    site.add("/a/", "/b/", "/c/")
    for path in ("/a/", "/b/"):
        lease = site.one()
        assert site.paths([lease]) == [path]
        site.end(lease, State.REJECTED)
    site.end(site.one())
    assert site.frontier.next_due(NOW) is None
    assert not site.frontier.has_pending


# When something is due


def test_nothing_is_due_when_nothing_waits(site):
    assert site.frontier.next_due(NOW) is None
    assert not site.frontier.has_pending
    site.add("/a/")
    assert site.frontier.next_due(NOW) == 0.0
    lease = site.one()
    assert site.frontier.next_due(NOW) is None
    assert site.frontier.schedule.is_waiting
    site.end(lease)
    assert not site.frontier.schedule.is_waiting


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    delays=st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=1, max_size=4),
    steps=st.lists(st.sampled_from(["end", "reject", "refuse", "fail"]), max_size=30),
)
def test_urls_are_leased_when_they_are_due_and_not_earlier(engine, delays, steps):
    frontier = engine.frontier()
    sites = {}
    for delay_s in delays:
        site = Site(engine, frontier, delay_s=delay_s)
        sites[site.id] = site
        site.add("/a/", "/b/", "/c/", "/d/")
    now = NOW
    for step in steps:
        due = frontier.next_due(now)
        if due is None:
            break
        if due:
            assert frontier.lease(now + 0.99 * due, 1) == []
        now += due
        (lease,) = frontier.lease(now, 1)
        site = sites[lease.site_id]
        if step == "end":
            site.end(lease, now=now)
        elif step == "reject":
            site.end(lease, State.REJECTED, now=now)
        elif step == "refuse":
            frontier.release(lease, frontier.site(site.id).gate.back_off(now, 7.0), failed=True)
        else:
            frontier.release(lease, now + 1, failed=True)


def test_paused_site_leases_nothing_until_it_is_resumed(engine):
    frontier = engine.frontier()
    paused, other = Site(engine, frontier), Site(engine, frontier)
    paused.add("/a/")
    frontier.schedule.pause(paused.id)
    frontier.schedule.pause(paused.id)
    other.add("/a/")
    paused.add("/b/")
    assert [lease.site_id for lease in frontier.lease(NOW, 9)] == [other.id]
    assert frontier.next_due(NOW) is None
    assert frontier.has_pending, "a paused site will be resumed"
    frontier.schedule.resume(paused.id, NOW)
    assert paused.paths(frontier.lease(NOW, 9)) == ["/a/"]
