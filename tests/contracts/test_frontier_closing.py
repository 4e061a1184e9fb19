"""A closed site continues from its rows when it is opened again, here or elsewhere, as if it had stayed open."""

import os
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.bandits.site_rules import RULES, RuleOptions
from crawlers.errors import FrontierError
from crawlers.frontier.values import Candidate
from crawlers.items import State
from crawlers.store.schema.tables import SiteRelease
from crawlers.store.sites.site_opening import SiteRow
from crawlers.store.writing.pulls import Pull
from tests.contracts.random_crawl import WebCrawl
from tests.contracts.site import NOW, Site
from tests.contracts.webs import Kind, PageSpec, Way, budget, target, webs
from tests.support.frontier_state import counts_of

EXAMPLES = int(os.environ.get("WEB_EXAMPLES", "60"))


def close(site):
    """Close the site, commit everything, and return its row."""
    changes = site.frontier.close_site(site.id)
    (row,) = changes[SiteRelease]
    site.frontier.store.submit(changes)
    site.frontier.store.flush()
    return row


@pytest.fixture
def begun(site):
    """A site with a page that was read, and three that wait."""
    site.add("/")
    site.end(site.one(), State.DONE, "/a/", "/b/", "/c/")
    return site


def test_site_with_open_leases_is_not_closed_and_none_is_opened_twice(begun):
    lease = begun.one()
    with pytest.raises(FrontierError, match="1 of its URLs are leased"):
        begun.frontier.close_site(begun.id)
    with pytest.raises(FrontierError, match="open already"):
        begun.frontier.open_site(SiteRow(begun.id, begun.root, 1, None, 0.0), NOW)
    begun.end(lease)
    close(begun)


def test_closed_site_is_forgotten(begun):
    frontier = begun.frontier
    assert close(begun) == SiteRelease(begun.id, NOW, None)
    assert (begun.lease(), frontier.has_pending, counts_of(frontier)) == ([], False, {})
    assert not frontier.schedule.is_waiting
    assert frontier.next_due(NOW) is frontier.best_index(NOW) is None
    later = [
        lambda: begun.add("/new/"),
        lambda: frontier.site(begun.id).gate,
        lambda: frontier.schedule.pause(begun.id),
        lambda: frontier.schedule.resume(begun.id, NOW),
        lambda: frontier.close_site(begun.id),
    ]
    for call in later:
        with pytest.raises(FrontierError, match=f"site {begun.id} is not open; call open_site first"):
            call()


def test_retry_does_not_wait_longer_because_the_clock_was_set_back(engine, begun):
    begun.frontier.release(begun.one(), NOW + 60.0, "timeout", failed=True)
    close(begun)
    begun.frontier.open_site(SiteRow(begun.id, begun.root, 9, None, 0.0), NOW - 10_000.0)
    assert begun.paths(begun.lease(NOW - 9_941.0)) == ["/b/", "/c/"]
    assert begun.paths(begun.lease(NOW - 9_940.0)) == ["/a/"]


def test_row_has_the_times_of_the_gate(engine):
    site = Site(engine, delay_s=10.0)
    site.add("/", "/a/")
    assert close(site) == SiteRelease(site.id, None, None)
    site = Site(engine, site.frontier, id=site.id, delay_s=10.0)
    site.frontier.site(site.id).gate.resume(NOW - 4.0, NOW - 1.0, NOW)
    assert close(site) == SiteRelease(site.id, NOW - 4.0, NOW - 1.0)
    site = Site(engine, site.frontier, id=site.id)
    site.end(site.one(), State.DONE)
    site.end(site.one(NOW + 5.0), State.REJECTED)
    site.frontier.site(site.id).gate.back_off(NOW + 7.0, 30.0)
    assert close(site) == SiteRelease(site.id, NOW, NOW + 37.0)


def test_failed_root_does_not_make_a_site_unavailable_of_which_another_root_was_read(engine):
    site = Site(engine)
    site.add("/", "/other/")
    site.end(site.one())
    close(site)
    submitted = []
    site = Site(engine, site.frontier, id=site.id)
    submit = site.frontier.store.submit
    site.frontier.store.submit = lambda changes: submitted.append(changes) or submit(changes)
    site.end(site.one(), State.FAILED)
    assert "SiteAvailability" not in {kind.__name__ for changes in submitted for kind in changes}


# The best index


def test_best_index_is_that_of_the_sites_that_can_be_fetched_from_soon(engine):
    frontier = engine.frontier(rule=RULES["gittins"](RuleOptions(gittins_batch=1)))
    good, poor = (Site(engine, frontier, delay_s=delay_s) for delay_s in (60.0, 1.0))
    assert frontier.best_index(NOW) is None
    good.add("/", "/a/")
    poor.add("/", "/a/")
    assert frontier.best_index(NOW) == float("inf")
    frontier.learn([Pull(good.id, 50.0), Pull(poor.id, 2.0)])
    best = frontier.best_index(NOW)
    good.end(frontier.lease(NOW, 1)[0])
    while_it_sleeps = frontier.best_index(NOW)
    assert 0.0 < while_it_sleeps < best
    assert frontier.best_index(NOW + 50.0) > while_it_sleeps


def test_sites_are_equal_to_rules_without_an_index(site):
    assert site.frontier.best_index(NOW) is None
    site.add("/")
    assert site.frontier.best_index(NOW) == 0.0


def test_registered_sites_break_ties_in_that_order(engine):
    frontier = engine.frontier()
    ids = [engine.new_site() for _ in range(3)]
    for number in ids:
        frontier.budget.rule.sleep(number)
    for number in reversed(ids):
        Site(engine, frontier, id=number).add("/")
    assert [lease.site_id for lease in frontier.lease(NOW, 3)] == ids


# Random crawls


class Crawl(WebCrawl):
    """A crawl of several sites, one of *webs* each; if it is *disturbed*, sites are closed and opened again."""

    rests_s = (0.0, 2.0, 7.0)

    def __init__(self, engine, some, seed, *, disturbed):
        super().__init__(engine, random.Random(seed), some, NOW)
        self._chance = random.Random(seed + 1)
        self._disturbed = disturbed
        self.frontier = engine.frontier(
            rule=RULES[self.rng.choice(["roundrobin", "sequential", "ucb1", "auto"])](RuleOptions()),
            cache_urls=self.rng.choice([1, 5, 1000]),
            records_pulls=True,
        )
        self._limits = {site: (self.rng.choice([1, 3]), self.rng.choice([0.0, 1.5])) for site in self.sites}
        self.leased = []  # place of the site, URL, attempts and time
        self.closed = 0
        for site in self.sites:
            self._open(site)
            self.frontier.add([Candidate(site, target(Way(0, 0)))], self.now)

    def _open(self, site):
        parallel, delay_s = self._limits[site]
        self.frontier.open_site(SiteRow(site, f"http://host{site}.test", parallel, None, delay_s), self.now)

    def step(self):
        if self._disturbed and self._chance.random() < 0.3:
            self._reopen(self._chance.choice(self.sites))
        return super().step()

    def take(self, leases):
        super().take(leases)
        self.leased += [(self.sites.index(one.site_id), one.url, one.attempts, self.now) for one in leases]

    def _reopen(self, site):
        if any(lease.site_id == site for lease in self.in_flight):
            return
        row = self.close(site)
        self._open(site)
        if row.asked_at is not None:
            self.frontier.site(site).gate.resume(row.asked_at, row.rest_until or float("-inf"), self.now)
        self.closed += 1

    def rows(self):
        """Return the pages of each site in the order in which they were found."""
        names = ("key", "url", "variant", "level", "hops", "state", "reason", "attempts", "retry_at")
        found = []
        for site in self.sites:
            rows = sorted(self.engine.rows(site), key=lambda row: row["id"])
            assert counts_of(self.frontier)[site] == Counter(State(row["state"]) for row in rows)
            found.append([tuple(row[name] for name in names) for row in rows])
        return found


def check(engine, some, seed):
    calm = Crawl(engine, some, seed, disturbed=False).run()
    rows = calm.rows()
    disturbed = Crawl(engine, some, seed, disturbed=True).run()
    assert disturbed.leased == calm.leased
    assert disturbed.rows() == rows
    return disturbed.closed


@budget(EXAMPLES)
@given(some=st.lists(webs(10), min_size=1, max_size=4), seed=st.integers(0, 1_000_000))
def test_any_crawl_goes_on_after_closing_sites_as_without(engine, some, seed):
    check(engine, some, seed)


def test_random_crawls_close_sites_often(engine):
    pages = [PageSpec(Kind.PAGE, (Way(n + 1, 0), Way(n + 2, 1)), n % 2) for n in range(6)]
    web = (*pages, *[PageSpec(Kind.PAGE, ())] * 2)
    assert check(engine, [web, web, web], 5) > 5
