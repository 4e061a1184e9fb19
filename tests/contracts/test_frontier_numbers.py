"""The frontier's contract, for every engine: what it reports about itself to those who watch it."""

from crawlers.algorithms.bandits.beebot import BatchGreedy
from crawlers.algorithms.bandits.patience import Patience
from crawlers.frontier.values import Decision, Reward, RuleDecisions
from crawlers.items import Page, State
from tests.contracts.site import NOW, Site


def test_pages_are_summed_up_by_state_without_those_of_unknown_sites(engine):
    a = Site(engine, parallel=9)
    b = Site(engine, a.frontier, parallel=9)
    a.add("/1", "/2", "/3")
    b.add("/1")
    (lease,) = (one for one in a.lease() if one.url.endswith("/1"))
    a.end(lease, State.FAILED)
    assert list(a.frontier.schedule.sites) == [a.id, b.id]
    assert a.frontier.page_counts() == {State.WAITING: 3, State.FAILED: 1}


def test_choices_of_the_rule_are_counted_by_their_outcome(engine):
    frontier = engine.frontier(rule=BatchGreedy(1), page_budget=20, patience=Patience(0.9, 60.0))
    good, poor = Site(engine, frontier, delay_s=2.0), Site(engine, frontier)
    assert frontier.lease(NOW, 1) == []
    assert frontier.schedule.rule_decisions == RuleDecisions(0, 0, 1)
    for site in (good, poor):
        site.add("/a", "/b")
    for lease in frontier.lease(NOW, 2):
        page = Page(lease.id, lease.url, lease.level, State.DONE)
        frontier.acknowledge(lease, Decision(page), NOW, Reward(10.0 if lease.site_id == good.id else 5.0))
    assert frontier.schedule.rule_decisions == RuleDecisions(2, 0, 1)
    assert frontier.lease(NOW, 1) == []
    assert frontier.schedule.rule_decisions == RuleDecisions(2, 1, 1)
