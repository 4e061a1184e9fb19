"""The frontier's contract: what it reports about itself to those who watch it, and what its sites wait for."""

import random

from crawlers.bandits.arms import Patience
from crawlers.bandits.index_rule import BatchGreedy
from crawlers.items import State
from crawlers.store.worker_rows import Wait
from tests.contracts.site import NOW, Site, acknowledge


def test_site_passes_through_all_waits(engine):
    site = Site(engine, parallel=1, delay_s=2.0)
    frontier = site.frontier
    assert frontier.schedule.wait_counts() == {Wait.NOTHING: 1}
    site.add("/a/", "/b/", "/c/")
    assert frontier.schedule.wait_counts() == {Wait.READY: 1}
    frontier.schedule.pause(site.id)
    assert frontier.schedule.wait_counts() == {Wait.ROBOTS: 1}
    frontier.schedule.pause(site.id, wait=Wait.TRIAL)
    assert frontier.schedule.wait_counts() == {Wait.TRIAL: 1}
    frontier.schedule.resume(site.id, NOW)
    lease = site.one()
    assert frontier.schedule.wait_counts() == {Wait.RESPONSE: 1}
    site.end(lease)
    assert frontier.schedule.wait_counts() == {Wait.DELAY: 1}
    lease = site.one(NOW + 2)
    frontier.release(lease, frontier.site(site.id).gate.back_off(NOW + 2, 60.0), failed=True)
    assert frontier.schedule.wait_counts() == {Wait.REST: 1}
    other = Site(engine, frontier)
    other.add("/a/")
    frontier.close_site(site.id)
    assert frontier.schedule.wait_counts() == {Wait.READY: 1}
    frontier.release(other.one(), NOW + 30, "timeout", failed=True)
    assert frontier.schedule.wait_counts() == {Wait.RETRY: 1}
    other.end(other.one(NOW + 30))
    assert frontier.schedule.wait_counts() == {Wait.NOTHING: 1}


def test_each_site_is_counted_once_in_any_history(engine):
    rng = random.Random(3)
    frontier = engine.frontier()
    sites = [Site(engine, frontier, delay_s=rng.choice([0.0, 1.0]), parallel=rng.choice([1, 3])) for _ in range(6)]
    now = NOW
    for _ in range(150):
        site = rng.choice(sites)
        step = rng.choice(["add", "lease", "pause", "resume"])
        if step == "add":
            site.add(f"/{rng.randrange(9)}/")
        elif step == "pause":
            frontier.schedule.pause(site.id)
        elif step == "resume":
            frontier.schedule.resume(site.id, now)
        else:
            for lease in frontier.lease(now, rng.randrange(3)):
                its = next(one for one in sites if one.id == lease.site_id)
                if rng.random() < 0.7:
                    its.end(lease, rng.choice([State.DONE, State.REJECTED]), now=now)
                else:
                    frontier.release(lease, now + 3, failed=True)
        now += rng.random()
        assert sum(frontier.schedule.wait_counts().values()) == len(sites)


def test_choices_of_the_rule_are_counted_by_their_outcome(engine):
    frontier = engine.frontier(rule=BatchGreedy(1), page_budget=20, patience=Patience(0.9, 60.0))
    good, poor = Site(engine, frontier, delay_s=2.0), Site(engine, frontier)
    assert frontier.lease(NOW, 1) == []
    assert list(frontier.schedule.rule_decisions.values()) == [0, 0, 1]
    for site in (good, poor):
        site.add("/a", "/b")
    for lease in frontier.lease(NOW, 2):
        acknowledge(frontier, lease, reward=10.0 if lease.site_id == good.id else 5.0)
    assert list(frontier.schedule.rule_decisions.values()) == [2, 0, 1]
    assert frontier.lease(NOW, 1) == []
    assert list(frontier.schedule.rule_decisions.values()) == [2, 1, 1]
