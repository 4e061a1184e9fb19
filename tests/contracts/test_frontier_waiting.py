"""The frontier's contract: with a page budget, the crawl waits for good sites, but never for long."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlers.algorithms.bandits.beebot import BatchGreedy
from crawlers.algorithms.bandits.best_site import Best
from crawlers.algorithms.bandits.patience import Patience
from crawlers.algorithms.bandits.site_rules import RULES, RuleOptions
from crawlers.algorithms.ranking.page_orders import ORDERS, OrderOptions
from crawlers.algorithms.topic.vectors import Weights
from crawlers.frontier.values import Decision, Reward
from crawlers.items import Page, State
from crawlers.storage.pulls import Pull
from tests.contracts.site import NOW, Site

PATIENT = Patience(0.9, 60.0)
PATHS = [f"/{number}/" for number in range(30)]
OUTCOMES = ["done", "done", "done", "failed", "retried", "rejected", "refused", "long refused"]


def end(site, lease, reward, now=NOW, links=()):
    found = [(site.target(path), 1) for path in links]
    page = Page(lease.id, lease.url, lease.level, State.DONE, links=found)
    site.frontier.acknowledge(lease, Decision(page), now, Reward(reward))


def opened(engine, *sites, **limits):
    """Return sites on one frontier whose rule has seen one page of each: the first was better than the second, …"""
    limits = {"rule": BatchGreedy(1), "page_budget": 20, "patience": PATIENT} | limits
    frontier = engine.frontier(**limits)
    found = [Site(engine, frontier, **one) for one in sites]
    for site in found:
        site.add(*PATHS)
    for lease in frontier.lease(NOW, len(found)):
        number = [site.id for site in found].index(lease.site_id)
        end(found[number], lease, 10.0 / (1 + number))
    return found


def leased(site, now):
    return [lease.site_id for lease in site.frontier.lease(now, 1)]


NEAR = Weights(0.0, 1.0, 0.0)  # the score of a page on level n is 1/(n + 1)


def compared(engine, page_budget=20):
    """Return two sites of a crawl that compares pages: the pages of the first are nearer, and it has a delay."""
    frontier = engine.frontier(
        ORDERS["topic"](OrderOptions(weights=NEAR)), Best(), page_budget=page_budget, patience=PATIENT
    )
    good, poor = Site(engine, frontier, delay_s=2.0), Site(engine, frontier)
    good.add("/", *PATHS, level=1)
    poor.add("/", *PATHS, level=4)
    end(good, good.one(), 0.0)
    return good, poor


def test_crawl_that_compares_pages_waits_for_the_site_of_the_best_one(engine):
    good, poor = compared(engine)
    assert leased(poor, NOW) == leased(poor, NOW + 1.9) == []
    assert good.frontier.next_due(NOW + 0.5) == 1.5
    (lease,) = good.frontier.lease(NOW + 2.0, 1)
    assert lease.site_id == good.id
    assert leased(poor, NOW + 3.0) == [], "a response is awaited"
    good.frontier.pause(good.id)
    assert leased(poor, NOW + 3.0) == [poor.id], "nobody knows for how long the site rests"


def test_crawl_that_compares_pages_waits_for_nothing_without_a_budget(engine):
    good, poor = compared(engine, page_budget=0)
    assert leased(good, NOW) == [poor.id]


@pytest.mark.parametrize(
    "limits",
    [
        {"page_budget": 0},
        {"patience": Patience()},
        {"patience": Patience(0.0, 60.0)},
        {"patience": Patience(0.5, 60.0)},  # the awake site is nearly as good
        {"patience": Patience(0.9, 0.0)},
        {"patience": Patience(0.9, 60.0, timeout_s=0.001)},
        {"rule": RULES["roundrobin"](RuleOptions())},
    ],
)
def test_crawl_does_not_wait(engine, limits):
    good, poor = opened(engine, {"delay_s": 2.0}, {}, **limits)
    now = NOW + 0.1
    assert good.frontier.next_due(now) == 0.0
    assert leased(good, now) == [poor.id]


def test_crawl_with_a_time_limit_waits_while_it_is_ahead_of_its_pace(engine):
    good, poor = opened(engine, {"delay_s": 50.0}, {}, patience=Patience(0.9, 60.0, timeout_s=100.0))
    assert leased(good, NOW + 9.9) == [], "2 of 20 pages: as many as after 10 of 100 s"
    assert good.frontier.next_due(NOW + 9.0) == 1.0
    assert leased(good, NOW + 10.0) == [poor.id]
    assert leased(good, NOW + 10.0) == [], "3 of 20 pages"


def test_host_that_rests_for_long_is_not_waited_for(engine):
    good, poor = opened(engine, {}, {})
    (lease,) = good.frontier.lease(NOW, 1)
    rest_until = good.frontier.gate(good.id).back_off(NOW, 300.0)
    good.frontier.release(lease, rest_until, "status 429", failed=True)
    assert leased(poor, NOW) == [poor.id]


@pytest.mark.parametrize("state", ["in flight", "paused", "retried", "must wait"])
def test_no_state_of_a_site_is_waited_for_longer_than_the_limit(engine, state):
    good, poor = opened(engine, {"parallel": 2 if state == "must wait" else 1}, {}, page_budget=100)
    frontier = good.frontier
    if state == "must wait":
        good.add("/far/", level=1)
        for _ in PATHS[2:]:
            end(good, good.one(), 10.0)
    (lease,) = frontier.lease(NOW, 1)
    assert lease.site_id == good.id
    if state == "paused":
        frontier.release(lease, NOW)
        frontier.pause(good.id, is_awaited=True)
    elif state == "retried":
        frontier.release(lease, NOW + 1000.0, "no answer")
        frontier.pause(good.id, is_awaited=True)
    assert leased(poor, NOW) == leased(poor, NOW + 59.9) == []
    assert frontier.next_due(NOW) == 60.0
    assert leased(poor, NOW + 60.0) == [poor.id]
    end(poor, next(one for one in frontier._leases.values() if one.site_id == poor.id), 0.0, NOW + 61.0)
    assert leased(poor, NOW + 61.0) == [poor.id], "not only one page a minute"


def test_paused_site_of_which_nothing_is_expected_soon_is_not_waited_for(engine):
    good, poor = opened(engine, {}, {})
    good.frontier.pause(good.id, is_awaited=True)
    assert leased(poor, NOW) == []
    good.frontier.pause(good.id)
    assert leased(poor, NOW) == [poor.id]
    assert good.frontier.next_due(NOW) is None
    good.frontier.resume(good.id, NOW)
    assert leased(good, NOW) == [good.id]


def test_site_of_which_nothing_waits_is_not_waited_for(engine):
    frontier = engine.frontier(rule=BatchGreedy(1), page_budget=20, patience=PATIENT)
    good, poor = Site(engine, frontier, delay_s=2.0), Site(engine, frontier)
    good.add("/only/")
    poor.add(*PATHS)
    first, second = frontier.lease(NOW, 2)
    end(good, first, 10.0)
    end(poor, second, 1.0)
    assert leased(poor, NOW) == [poor.id]


def test_site_whose_first_results_are_awaited_is_waited_for(engine):
    frontier = engine.frontier(rule=BatchGreedy(1), page_budget=20, patience=PATIENT)
    slow, quick = Site(engine, frontier), Site(engine, frontier)
    slow.add("/")
    quick.add(*PATHS)
    home, first = frontier.lease(NOW, 2)
    end(quick, first, 1.0)
    assert leased(quick, NOW) == []
    end(slow, home, 5.0, links=["/a/"])
    assert leased(slow, NOW) == [slow.id]


def test_resumed_crawl_waits_as_before(engine):
    good, poor = opened(engine, {"delay_s": 2.0}, {})
    assert leased(good, NOW) == []
    frontier = engine.frontier(rule=BatchGreedy(1), page_budget=20, patience=PATIENT)
    again = Site(engine, frontier, id=good.id, delay_s=2.0)
    Site(engine, frontier, id=poor.id).add(*PATHS)
    again.add(*PATHS)
    frontier.learn([Pull(good.id, 10.0), Pull(poor.id, 5.0)])
    frontier.gate(good.id).next_at = NOW + 2.0  # requests of the earlier run count
    assert leased(again, NOW + 1.9) == []
    assert leased(again, NOW + 2.0) == [good.id]


# No stall


class Simulation:
    """A crawl of random sites whose pages end in every possible way; time goes on only when nothing can be leased."""

    def __init__(self, engine, seed, rule, order):
        self.rng = rng = random.Random(seed)
        self.budget = rng.choice([10, 40, 10_000])
        patience = Patience(rng.choice([0.1, 0.9, 1.0]), rng.choice([1.0, 60.0]), rng.choice([0.0, 0.0, 100.0]))
        options = RuleOptions(page_budget=self.budget, gittins_batch=3, ucb1_initial=2)
        self.frontier = engine.frontier(
            ORDERS[order](OrderOptions()), RULES[rule](options), page_budget=self.budget, patience=patience
        )
        self.sites = {}
        for _ in range(rng.randint(1, 6)):
            limits = {"parallel": rng.choice([1, 1, 3]), "delay_s": rng.choice([0.0, 0.5, 5.0, 100.0])}
            site = Site(engine, self.frontier, **limits)
            site.add("/")
            self.sites[site.id] = site
        self.richness = {number: rng.choice([0, 1, 20]) for number in self.sites}
        self.now = NOW
        self.flying = []
        self.paused = []
        self.pages = 0

    def run(self):
        for _ in range(20_000):
            leases = self.frontier.lease(self.now, self.rng.choice([1, 1, 8]))
            for lease in leases:
                self._take(lease)
            if not leases and not self._advance():
                assert self.frontier.budget.is_exhausted or not self.frontier.is_waiting, "the crawl stalls"
                return
        raise AssertionError("the crawl does not end")

    def _take(self, lease):
        if self.rng.random() < 0.05:
            self.frontier.release(lease, self.now)
            self.frontier.pause(lease.site_id, is_awaited=self.rng.random() < 0.5)
            self.paused.append((self.now + self.rng.choice([0.1, 200.0]), lease.site_id))
        else:
            self.flying.append((self.now + self.rng.choice([0.1, 1.0, 100.0]), lease))

    def _advance(self):
        """Go to the next event; return whether there is one."""
        due = self.frontier.next_due(self.now)
        assert due is None or due > 0.0, "something is due, but nothing is leased"
        times = [at for at, _ in (*self.flying, *self.paused)] + ([] if due is None else [self.now + due])
        if not times:
            return False
        self.now = max(self.now, min(times))
        for one in [one for one in self.paused if one[0] <= self.now]:
            self.paused.remove(one)
            self.frontier.resume(one[1], self.now)
        for one in [one for one in self.flying if one[0] <= self.now]:
            self.flying.remove(one)
            self._end(one[1])
        return True

    def _end(self, lease):
        site, rng = self.sites[lease.site_id], self.rng
        outcome = rng.choice(OUTCOMES)
        if outcome == "retried" and lease.attempts < 3:
            self.frontier.release(lease, self.now + rng.choice([0.0, 2.0, 400.0]), "no answer", failed=True)
        elif outcome.endswith("refused") and lease.attempts < 3:
            rest_s = 300.0 if outcome.startswith("long") else None
            until = self.frontier.gate(site.id).back_off(self.now, rest_s)
            self.frontier.release(lease, until, "status 429", failed=True)
        elif outcome == "rejected":
            site.end(lease, State.REJECTED, now=self.now)
        elif outcome == "failed":
            site.end(lease, State.FAILED, now=self.now)
        else:
            links = []
            if self.pages < 100:
                links = [f"/{self.pages}-{number}/" for number in range(rng.choice([0, 1, 3, 12]))]
                self.pages += len(links)
            end(site, lease, float(rng.randrange(1 + self.richness[site.id])), self.now, links)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 1_000_000),
    rule=st.sampled_from(["auto", "gittins", "ucb1", "trivial", "best"]),
    order=st.sampled_from(["bfs", "aopic", "topic"]),
)
def test_every_crawl_ends_with_its_budget_spent_or_nothing_waiting(engine, seed, rule, order):
    Simulation(engine.begin_crawl(), seed, rule, order).run()
