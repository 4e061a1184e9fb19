"""Settings select a site rule; errors list the valid names."""

import pytest

from crawlers.bandits.arms import Patience
from crawlers.bandits.site_rules import RULES, RuleOptions
from crawlers.inputs.setting_readers import chosen_patience, chosen_rule, rule_name, rule_options
from tests.support.opened_crawl import project_settings


@pytest.mark.parametrize(("profile", "rule"), [("universities", "ucb1"), ("institutes", "gittins"), ("", "roundrobin")])
def test_profiles_select_the_published_rules(profile, rule):
    assert rule_name(project_settings(PROFILE=profile)) == rule
    assert type(chosen_rule(project_settings(PROFILE=profile))) is type(RULES[rule](RuleOptions()))


def test_settings_given_as_numbers_or_texts_become_options():
    settings = project_settings(
        PAGE_BUDGET="7",
        ROUNDROBIN_QUANTUM_PAGES="4",
        ROUNDROBIN_QUANTUM_SECONDS="1.5",
        GITTINS_BATCH_PAGES=6,
        UCB1_INITIAL_PAGES="2",
    )
    assert rule_options(settings) == RuleOptions(7, 4, 1.5, 6, 2)
    assert rule_options(project_settings()) == RuleOptions(), "the defaults of both are the same"


def test_patience_is_given_by_two_settings():
    settings = project_settings(RULE_WAIT_SECONDS=7, TIMEOUT_SECONDS="60")
    assert chosen_patience(settings) == Patience(0.9, 7.0, 60.0)
