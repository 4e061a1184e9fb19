"""Every site rule chooses only sites that are awake, as a function of the pulls."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.bandits.index_rule import EXACT
from crawlers.bandits.site_rules import REWARD_CAP, REWARDS, RULES, RuleOptions
from crawlers.errors import ConfigError
from crawlers.items import ExternalLink
from tests.support.fragments import Crawl, awake, pulls, rotting, webs

OPTIONS = RuleOptions(page_budget=200, quantum_pages=3, gittins_batch=4, ucb1_initial=2)
every_rule = pytest.mark.parametrize("name", sorted(RULES))
few = settings(max_examples=20)  # of each rule
INDEX_RULES = ["auto", "gittins", "ucb1"]


def made(name):
    return RULES[name](OPTIONS)


@every_rule
def test_nothing_is_chosen_while_all_sites_sleep(name):
    rule = made(name)
    assert rule.select(0.0) is None
    rule.wake("a")
    rule.sleep("a")
    rule.sleep("a")
    rule.sleep("unknown")
    assert rule.select(0.0) is None


@every_rule
@few
@given(webs, st.integers(0, 400))
def test_all_pages_within_the_budget_are_read_once(name, yields, budget):
    crawl = Crawl(made(name), yields)
    assert len(crawl.run(budget)) == min(budget, sum(map(len, yields)))
    assert all(read <= len(rewards) for read, rewards in zip(crawl.read, yields, strict=True))


@every_rule
@few
@given(webs, st.randoms(use_true_random=False))
def test_sleeping_sites_are_never_chosen_and_an_awake_one_always_is(name, yields, rng):
    rule = made(name)
    woken = set()
    for _ in range(150):
        site = rng.randrange(len(yields))
        if rng.random() < 0.5:
            rule.wake(site)
            woken.add(site)
        else:
            rule.sleep(site)
            woken.discard(site)
        chosen = rule.select(0.0)
        assert (chosen in woken) if woken else chosen is None
        if chosen is not None:
            rule.record_pull(chosen)
            rule.record_reward(chosen, rng.choice([0, 0, 1, 5]))


@every_rule
@few
@given(webs, st.integers(0, 150))
def test_selecting_does_not_count_as_a_pull(name, yields, steps):
    asked, not_asked = Crawl(made(name), yields), Crawl(made(name), yields)
    for _ in range(steps):
        assert asked.rule.select(0.0) == asked.rule.select(0.0)
        assert asked.step() == not_asked.step()


@every_rule
@few
@given(webs, st.integers(0, 150))
def test_resumed_rule_makes_identical_choices(name, yields, killed_after):
    crawl = Crawl(made(name), yields)
    crawl.run(killed_after)
    assert crawl.resumed(made(name)).run(100) == crawl.run(100)


@every_rule
@pytest.mark.parametrize("killed_after", [0, 40, 399, 1000])
def test_resumed_rule_makes_identical_choices_among_many_sites(name, killed_after):
    crawl = Crawl(made(name), rotting(1, 3 * EXACT))
    crawl.run(killed_after)
    assert crawl.resumed(made(name)).run(1000) == crawl.run(1000)


@every_rule
@few
@given(webs, st.randoms(use_true_random=False), st.integers(0, 100))
def test_cancelled_pull_leaves_no_trace(name, yields, rng, steps):
    crawl, undisturbed = Crawl(made(name), yields), Crawl(made(name), yields)
    for _ in range(steps):
        tried = [rng.randrange(len(yields)) for _ in range(rng.randrange(4))]
        for site in tried:
            crawl.rule.record_pull(site)
            crawl.rule.select(0.0)
        for site in rng.sample(tried, len(tried)):
            crawl.rule.cancel_pull(site)
        assert crawl.step() == undisturbed.step()


@every_rule
@pytest.mark.parametrize("sites", [5, 2 * EXACT])
def test_cancelled_pulls_leave_no_trace_while_others_are_in_flight(name, sites):
    rng = random.Random(3)
    rule, twin = (awake(made(name), range(sites)) for _ in range(2))
    flying = []
    for _ in range(1000):
        chosen = rule.select(0.0)
        assert chosen == twin.select(0.0)
        rule.record_pull(chosen)
        if rng.random() < 0.2:
            rule.cancel_pull(chosen)
        else:
            twin.record_pull(chosen)
            flying.append(chosen)
        while len(flying) > 6:
            ended = flying.pop(rng.randrange(len(flying)))
            reward = rng.choice([0, 0, 0, 1, 9])
            for one in (rule, twin):
                one.record_reward(ended, reward)


@pytest.mark.parametrize("name", sorted({*INDEX_RULES, "trivial"} - {"gittins"}))
def test_pulls_in_flight_count_so_that_a_slow_site_is_not_chosen_repeatedly(name):
    rule = awake(RULES[name](RuleOptions(page_budget=40)), range(4))
    assert pulls(rule, [0.0] * 8, reward=None) == [0, 1, 2, 3] * 2


# Not auto: the cap of a page's reward depends on the pages before it, and so on the order of the first ones.
@pytest.mark.parametrize("name", sorted(set(INDEX_RULES) - {"auto"}))
@few
@given(st.integers(0, 1000), st.integers(2, 8), st.randoms(use_true_random=False))
def test_order_of_the_sites_matters_only_for_ties(name, seed, sites, rng):
    values = random.Random(seed)
    yields = [[values.randrange(1_000_000) for _ in range(values.randint(20, 60))] for _ in range(sites)]
    order = rng.sample(range(sites), sites)
    one, other = Crawl(made(name), yields), Crawl(made(name), yields, order)
    one.run(120)
    other.run(120)
    assert one.read == other.read


@pytest.mark.parametrize("name", INDEX_RULES)
@few
@given(webs, st.sampled_from([2, 8, 1024]))
def test_unit_of_the_rewards_does_not_matter(name, yields, unit):
    scaled = [[unit * reward for reward in rewards] for rewards in yields]
    assert Crawl(made(name), yields).run(300) == Crawl(made(name), scaled).run(300)


@pytest.mark.parametrize("name", sorted(set(INDEX_RULES) - {"gittins"}))
@pytest.mark.parametrize("sites", [7, 2 * EXACT])
def test_sites_without_rewards_are_read_equally_often(name, sites):
    crawl = Crawl(made(name), [[0] * 1000 for _ in range(sites)])
    for _ in range(10 * sites):
        crawl.step()
        assert max(crawl.read) - min(crawl.read) <= 1


@pytest.mark.parametrize("name", INDEX_RULES)
@few
@given(st.lists(st.integers(0, REWARD_CAP), min_size=2, max_size=200), st.integers(0, 3))  # `auto` caps none
def test_page_without_links_never_raises_the_index(name, rewards, in_flight):
    rule = made(name)
    for site in ("a", "b"):
        for reward in rewards:
            rule.record_reward(site, reward)
        for _ in range(in_flight):
            rule.record_pull(site)
    rule.record_reward("c", 1.0)
    rule.record_reward("b", 0.0)
    assert rule.index("b") <= rule.index("a") * (1 + 1e-12)


@pytest.mark.parametrize("name", INDEX_RULES)
def test_ranking_for_many_sites_finds_nearly_as_much_as_the_exact_one(name, monkeypatch):
    yields = [rewards * 5 for rewards in rotting(8, EXACT)]
    exact = Crawl(made(name), yields)
    exact.run(4000)
    monkeypatch.setattr("crawlers.bandits.index_rule.EXACT", 0)
    ranked = Crawl(made(name), yields)
    ranked.run(4000)
    found, ranked_found = (sum(reward for _, reward in crawl.pulls) for crawl in (exact, ranked))
    assert ranked_found == pytest.approx(found, rel=0.05)


def test_trivial_requires_a_budget():
    with pytest.raises(ConfigError, match=r"RULE=trivial needs PAGE_BUDGET: .*; set PAGE_BUDGET"):
        RULES["trivial"](RuleOptions())


def test_quantum_in_seconds_replaces_the_quantum_in_pages():
    rule = awake(RULES["roundrobin"](RuleOptions(quantum_pages=1, quantum_s=5.0)), "ab")
    assert pulls(rule, map(float, range(12))) == [*"aaaaabbbbbaa"]


def link(site, key):
    return ExternalLink(f"{site}/{key}", key, site, "", "", "", "", "a")


LINKS = [link("http://a.test", 1), link("http://a.test", 2), link("https://a.test", 3), link("http://b.test:81", 2)]


@pytest.mark.parametrize(("name", "number"), [("new_links", 3), ("links", 3), ("new_hosts", 2)])
def test_each_kind_counts_distinct_items_once(name, number):
    assert len(REWARDS[name].keys(LINKS)) == number


def test_only_links_count_again_on_another_page():
    assert [name for name, reward in REWARDS.items() if not reward.only_new] == ["links"]


@every_rule
def test_chosen_site_has_the_largest_index_also_when_its_pulls_are_replayed(name):
    """Pulls are chosen by the rule, and no batch is incomplete."""
    options = RuleOptions(page_budget=90)
    rule, fresh = awake(RULES[name](options), "abc"), RULES[name](options)
    for arm in "abc":
        fresh.sleep(arm)
    for number in range(60):
        arm = rule.select(float(number))
        for one in (rule, fresh):
            one.record_pull(arm)
            one.record_reward(arm, float(number * 7 % 5 * "abc".index(arm)))
    indices = {arm: fresh.index(arm) for arm in "abc"}
    if not fresh.has_index:
        assert set(indices.values()) == {None}
        return
    assert indices[rule.select(60.0)] == pytest.approx(max(one for one in indices.values() if one is not None))
