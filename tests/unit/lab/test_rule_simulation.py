"""A simulated rule finds the links of the pages it chose, and never more than the oracle."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.bandits.site_rules import RULES, RuleOptions
from crawlers.lab.experiment import omniscient, oracle, simulate

webs = st.lists(st.lists(st.integers(0, 9), max_size=5), min_size=1, max_size=4)
budgets = st.integers(0, 12)


def rule(name, budget=12):
    return RULES[name](RuleOptions(page_budget=budget))


@given(webs, budgets)
def test_oracle_finds_as_much_as_exhaustive_search(web, budget):
    best = [0] * (budget + 1)
    for read in product(*(range(len(pages) + 1) for pages in web)):
        for pages in range(sum(read), budget + 1):
            best[pages] = max(best[pages], sum(sum(site[:some]) for site, some in zip(web, read, strict=True)))
    assert oracle(web, budget) == best


@given(webs, budgets)
def test_omniscient_baseline_takes_the_best_pages(web, budget):
    links = sorted((links for pages in web for links in pages), reverse=True)
    assert omniscient(web, budget) == [sum(links[:pages]) for pages in range(budget + 1)]


@pytest.mark.parametrize("name", RULES)
@given(web=webs, budget=st.integers(1, 12))
@settings(max_examples=30)
def test_run_spends_its_budget_and_reads_each_site_in_order(name, web, budget):
    run = simulate(rule(name, budget), web, budget)
    assert len(run.choices) == min(budget, sum(map(len, web)))
    assert run.pulls == [run.choices.count(site) for site in range(len(web))]
    read = [0] * len(web)
    for page, site in enumerate(run.choices):
        assert run.found[page + 1] - run.found[page] == web[site][read[site]]
        read[site] += 1
    assert all(found <= most for found, most in zip(run.found, oracle(web, budget), strict=False))
    assert oracle(web, budget)[budget] <= omniscient(web, budget)[budget]
