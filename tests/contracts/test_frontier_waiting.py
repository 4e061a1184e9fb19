"""The frontier's contract: with a page budget, the crawl waits for good sites, but never for long."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlers.bandits.arms import Patience
from crawlers.bandits.index_rule import BatchGreedy, Best
from crawlers.bandits.site_rules import RULES, RuleOptions
from crawlers.frontier.values import Lease
from crawlers.items import State
from crawlers.ranking.page_orders import PageOrder
from crawlers.store.writing.pulls import Pull
from tests.contracts.fading import Near
from tests.contracts.random_crawl import RandomCrawl
from tests.contracts.site import NOW, Site, target_on
from tests.support.orders import installed
from tests.support.orders import order as order_of

PATIENT = Patience(0.9, 60.0)
PATHS = [f"/{number}/" for number in range(30)]
OUTCOMES = ["done", "done", "done", "failed", "retried", "rejected", "refused", "long refused"]


def opened(engine, *sites, **limits):
    """Return sites on one frontier whose rule has seen one page of each: the first was better than the second, …"""
    limits = {"rule": BatchGreedy(1), "page_budget": 20, "patience": PATIENT} | limits
    frontier = engine.frontier(**limits)
    found = [Site(engine, frontier, **one) for one in sites]
    for site in found:
        site.add(*PATHS)
    for lease in frontier.lease(NOW, len(found)):
        number = [site.id for site in found].index(lease.site_id)
        found[number].end(lease, reward=10.0 / (1 + number))
    return found


def leased(site, now):
    return [lease.site_id for lease in site.frontier.lease(now, 1)]


def compared(engine, page_budget=20):
    """Return two sites of a crawl that compares pages: the pages of the first are nearer, and it has a delay."""
    frontier = engine.frontier(PageOrder(Near()), Best(), page_budget=page_budget, patience=PATIENT)
    good, poor = Site(engine, frontier, delay_s=2.0), Site(engine, frontier)
    good.add("/", *PATHS, level=1)
    poor.add("/", *PATHS, level=4)
    good.end(good.one())
    return good, poor


def test_crawl_that_compares_pages_waits_for_the_site_of_the_best_one(engine):
    good, poor = compared(engine)
    assert leased(poor, NOW) == leased(poor, NOW + 1.9) == []
    assert good.frontier.next_due(NOW + 0.5) == 1.5
    (lease,) = good.frontier.lease(NOW + 2.0, 1)
    assert lease.site_id == good.id
    assert leased(poor, NOW + 3.0) == [], "a response is awaited"
    good.frontier.schedule.pause(good.id)
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
    good.frontier.release(lease, good.frontier.site(good.id).gate.back_off(NOW, 300.0), "status 429", failed=True)
    assert leased(poor, NOW) == [poor.id]


@pytest.mark.parametrize("state", ["in flight", "paused", "retried", "must wait"])
def test_no_state_of_a_site_is_waited_for_longer_than_the_limit(engine, state):
    good, poor = opened(engine, {"parallel": 2 if state == "must wait" else 1}, {}, page_budget=100)
    frontier = good.frontier
    if state == "must wait":
        good.add("/far/", level=1)
        for _ in PATHS[2:]:
            good.end(good.one(), reward=10.0)
    (lease,) = frontier.lease(NOW, 1)
    assert lease.site_id == good.id
    if state == "paused":
        frontier.release(lease, NOW)
        frontier.schedule.pause(good.id, is_awaited=True)
    elif state == "retried":
        frontier.release(lease, NOW + 1000.0, "no answer")
        frontier.schedule.pause(good.id, is_awaited=True)
    assert leased(poor, NOW) == leased(poor, NOW + 59.9) == []
    assert frontier.next_due(NOW) == 60.0
    assert leased(poor, NOW + 60.0) == [poor.id]
    poor.end(next(one for one in frontier.leases.values() if one.site_id == poor.id), now=NOW + 61.0)
    assert leased(poor, NOW + 61.0) == [poor.id], "not only one page a minute"


def test_paused_site_of_which_nothing_is_expected_soon_is_not_waited_for(engine):
    good, poor = opened(engine, {}, {})
    good.frontier.schedule.pause(good.id, is_awaited=True)
    assert leased(poor, NOW) == []
    good.frontier.schedule.pause(good.id)
    assert leased(poor, NOW) == [poor.id]
    assert good.frontier.next_due(NOW) is None
    good.frontier.schedule.resume(good.id, NOW)
    assert leased(good, NOW) == [good.id]


def test_site_of_which_nothing_waits_is_not_waited_for(engine):
    frontier = engine.frontier(rule=BatchGreedy(1), page_budget=20, patience=PATIENT)
    good, poor = Site(engine, frontier, delay_s=2.0), Site(engine, frontier)
    good.add("/only/")
    poor.add(*PATHS)
    first, second = frontier.lease(NOW, 2)
    good.end(first, reward=10.0)
    poor.end(second, reward=1.0)
    assert leased(poor, NOW) == [poor.id]


def test_site_whose_first_results_are_awaited_is_waited_for(engine):
    frontier = engine.frontier(rule=BatchGreedy(1), page_budget=20, patience=PATIENT)
    slow, quick = Site(engine, frontier), Site(engine, frontier)
    slow.add("/")
    quick.add(*PATHS)
    home, first = frontier.lease(NOW, 2)
    quick.end(first, reward=1.0)
    assert leased(quick, NOW) == []
    slow.end(home, State.DONE, "/a/", reward=5.0)
    assert leased(slow, NOW) == [slow.id]


def test_resumed_crawl_waits_as_before(engine):
    good, poor = opened(engine, {"delay_s": 2.0}, {})
    assert leased(good, NOW) == []
    frontier = engine.frontier(rule=BatchGreedy(1), page_budget=20, patience=PATIENT)
    again = Site(engine, frontier, id=good.id, delay_s=2.0)
    Site(engine, frontier, id=poor.id).add(*PATHS)
    again.add(*PATHS)
    frontier.learn([Pull(good.id, 10.0), Pull(poor.id, 5.0)])
    frontier.site(good.id).gate.next_at = NOW + 2.0  # requests of the earlier run count
    assert leased(again, NOW + 1.9) == []
    assert leased(again, NOW + 2.0) == [good.id]


# No stall


class Simulation(RandomCrawl):
    """A crawl of random sites whose pages end in every possible way; time goes on only when nothing can be leased."""

    batches = (1, 1, 8)

    def __init__(self, engine, seed, rule, order):
        rng = random.Random(seed)
        super().__init__(engine, rng, rng.randint(1, 6))
        page_budget = rng.choice([10, 40, 10_000])
        patience = Patience(rng.choice([0.1, 0.9, 1.0]), rng.choice([1.0, 60.0]), rng.choice([0.0, 0.0, 100.0]))
        options = RuleOptions(page_budget=page_budget, gittins_batch=3, ucb1_initial=2)
        self.frontier = engine.frontier(
            order_of(order), RULES[rule](options), page_budget=page_budget, patience=patience
        )
        for number in self.sites:
            limits = {"parallel": rng.choice([1, 1, 3]), "delay_s": rng.choice([0.0, 0.5, 5.0, 100.0])}
            Site(engine, self.frontier, id=number, **limits).add("/")
        self.richness = {number: rng.choice([0, 1, 20]) for number in self.sites}
        self.events = []  # when a page ends or a site is resumed, and its lease or the number of the site
        self.pages = 0

    def take(self, leases):
        for lease in leases:
            if self.rng.random() < 0.05:
                self.frontier.release(lease, self.now)
                self.frontier.schedule.pause(lease.site_id, is_awaited=self.rng.random() < 0.5)
                self.events.append((self.now + self.rng.choice([0.1, 200.0]), lease.site_id))
            else:
                self.events.append((self.now + self.rng.choice([0.1, 1.0, 100.0]), lease))

    def wait(self):
        due = self.frontier.next_due(self.now)
        if not self.events and due is None:
            assert self.frontier.budget.is_exhausted or not self.frontier.schedule.is_waiting, "the crawl stalls"
            return False
        assert due is None or due > 0.0, "something is due, but nothing is leased"
        self.now = min([at for at, _ in self.events] + ([] if due is None else [self.now + due]))
        over = [one for one in self.events if one[0] <= self.now]
        self.events = [one for one in self.events if one[0] > self.now]
        for _, what in over:
            if isinstance(what, Lease):
                self.end(what)
            else:
                self.frontier.schedule.resume(what, self.now)
        return True

    def end(self, lease):
        rng = self.rng
        outcome = rng.choice(OUTCOMES)
        if outcome == "retried" and lease.attempts < 3:
            self.retry(lease, rng.choice([0.0, 2.0, 400.0]))
        elif outcome.endswith("refused") and lease.attempts < 3:
            until = self.frontier.site(lease.site_id).gate.back_off(
                self.now, 300.0 if outcome.startswith("long") else None
            )
            self.frontier.release(lease, until, "status 429", failed=True)
        elif outcome in ("rejected", "failed"):
            self.acknowledge(lease, State[outcome.upper()])
        else:
            number = rng.choice([0, 1, 3, 12]) if self.pages < 100 else 0
            links = [(target_on(lease.site_id, f"/{self.pages}-{n}/"), 1) for n in range(number)]
            self.pages += number
            self.acknowledge(lease, reward=float(rng.randrange(1 + self.richness[lease.site_id])), links=links)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 1_000_000),
    rule=st.sampled_from(["auto", "gittins", "ucb1", "trivial", "best"]),
    order=st.sampled_from(installed("bfs", "aopic", "topic")),
)
def test_every_crawl_ends_with_its_budget_spent_or_nothing_waiting(engine, seed, rule, order):
    Simulation(engine.begin_crawl(), seed, rule, order).run()
