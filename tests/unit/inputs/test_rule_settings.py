"""Settings select a site rule; errors list the valid names."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawlers import settings as defaults
from crawlers.algorithms.bandits.patience import Patience
from crawlers.algorithms.bandits.site_rules import RULES, RuleOptions
from crawlers.errors import ConfigError
from crawlers.inputs.rule_settings import chosen_patience, chosen_rule, rule_name, rule_options


def given(**values: object) -> Settings:
    settings = Settings()
    settings.setmodule(defaults)
    settings.update(values)
    return settings


@pytest.mark.parametrize(("profile", "rule"), [("universities", "ucb1"), ("institutes", "gittins"), ("", "roundrobin")])
def test_profiles_select_the_published_rules(profile, rule):
    assert rule_name(given(PROFILE=profile)) == rule
    assert type(chosen_rule(given(PROFILE=profile))) is type(RULES[rule](RuleOptions()))


def test_settings_given_as_numbers_or_texts_become_options():
    settings = given(
        PAGE_BUDGET="7",
        ROUNDROBIN_QUANTUM_PAGES="4",
        ROUNDROBIN_QUANTUM_SECONDS="1.5",
        GITTINS_BATCH_PAGES=6,
        UCB1_INITIAL_PAGES="2",
    )
    assert rule_options(settings) == RuleOptions(7, 4, 1.5, 6, 2)
    assert rule_options(given()) == RuleOptions(), "the defaults of both are the same"


@pytest.mark.parametrize(("order", "optimism", "cap"), [("bfs", 1.6, 10), ("learnt", 1.0, 4), ("opic", 1.6, 10)])
def test_bonus_and_cap_are_smaller_with_orders_that_find_rich_pages_early(order, optimism, cap):
    options = rule_options(given(ORDER=order))
    assert (options.optimism, options.reward_cap) == (optimism, cap)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"RULE": "nosuch"}, "is unknown; choose one of: auto, best, gittins, roundrobin, sequential, trivial, ucb1$"),
        ({"RULE": "Auto"}, "RULE='Auto' is unknown"),
        ({"PROFILE": "schools"}, "PROFILE='schools' is unknown; choose one of: institutes, universities"),
        ({"RULE": "trivial"}, "RULE=trivial needs PAGE_BUDGET"),
    ],
)
def test_invalid_settings_are_reported_in_one_sentence(values, sentence):
    with pytest.raises(ConfigError, match=sentence):
        chosen_rule(given(**values))


def test_patience_is_given_by_two_settings():
    settings = given(RULE_WAIT_SECONDS=7, TIMEOUT_SECONDS="60")
    assert chosen_patience(settings) == Patience(0.9, 7.0, 60.0)
