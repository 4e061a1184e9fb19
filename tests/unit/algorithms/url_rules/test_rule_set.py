"""The set of rules: the right domain, the largest weight, and what is forbidden."""

from __future__ import annotations

import pytest

from crawlers.algorithms.url_rules import rule_set as module
from crawlers.algorithms.url_rules.rule_learner import UrlRule
from crawlers.algorithms.url_rules.rule_set import RuleSet

SITE = "https://www.example.org"


def rules(*pairs: tuple[str, float]) -> list[UrlRule]:
    return [UrlRule(regex, weight, "hand") for regex, weight in pairs]


def made(**domains: list[UrlRule]) -> RuleSet:
    found = RuleSet()
    for name, of_it in domains.items():
        found.replace(name.replace("_", "."), of_it)
    return found


def test_the_largest_weight_of_those_that_match_counts() -> None:
    found = made(example_org=rules(("/news/.*", 0.5), ("/news/[^/]+/", 0.9), ("/(n)(e)(w)s/x.*", 0.7)))
    assert found.weight(SITE, f"{SITE}/news/a/") == 0.9
    assert found.weight(SITE, f"{SITE}/news/x/y") == 0.7
    assert found.weight(SITE, f"{SITE}/news/a/b") == 0.5
    assert found.weight(SITE, f"{SITE}/news") == 0.0


def test_one_that_forbids_beats_all_others() -> None:
    found = made(example_org=rules(("/news/.*", 1.0), (".*/print/?", 0.0)))
    assert found.weight(SITE, f"{SITE}/news/a") == 1.0
    assert found.weight(SITE, f"{SITE}/news/a/print") == 0.0


def test_rules_match_path_and_query_in_full() -> None:
    found = made(example_org=rules(("/story\\?id=[0-9]+", 1.0)))
    assert found.weight(SITE, f"{SITE}/story?id=5") == 1.0
    assert found.weight(SITE, f"{SITE}/story?id=5&print=1") == 0.0
    assert found.weight(SITE, f"{SITE}/en/story?id=5") == 0.0


def test_alternatives_of_a_rule_stay_in_it() -> None:
    found = made(example_org=rules(("/a|/b", 1.0), ("^/c$", 1.0)))
    assert [found.weight(SITE, SITE + path) for path in ("/a", "/b", "/c", "/a/b", "/bb")] == [1.0, 1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("site", "weight"),
    [
        ("http://example.org", 0.5),
        ("http://example.org:8080", 0.5),
        ("https://a.b.example.org", 0.5),
        ("https://blog.example.org", 0.25),
        ("https://my.blog.example.org", 0.25),
        ("https://notexample.org", 0.0),
        ("https://org", 0.0),
        ("http://[::1]:80", 0.125),
    ],
)
def test_a_host_uses_the_rules_of_its_longest_domain_that_has_any(site: str, weight: float) -> None:
    found = made(example_org=rules(("/x", 0.5)), blog_example_org=rules(("/x", 0.25)))
    found.replace("[::1]", rules(("/x", 0.125)))
    assert found.weight(site, f"{site}/x") == weight


def test_rules_of_a_host_can_be_listed() -> None:
    found = made(example_org=rules(("/x", 0.5)))
    assert [rule.regex for rule in found.rules_of("www.example.org")] == ["/x"]
    assert found.rules_of("example.net") == ()


def test_new_rules_hold_at_once_and_none_leave_it_to_the_parent() -> None:
    found = made(example_org=rules(("/x", 0.5)), www_example_org=rules(("/x", 0.7)))
    assert found.weight(SITE, f"{SITE}/x") == 0.7
    found.replace("www.example.org", rules(("/y", 0.7)))
    assert found.weight(SITE, f"{SITE}/x") == 0.0
    found.replace("www.example.org", [])
    assert found.weight(SITE, f"{SITE}/x") == 0.5


def test_sites_are_forgotten_and_looked_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SITES_MAX", 3)
    found = made(example_org=rules(("/x", 0.5)))
    for number in (*range(10), *range(10)):
        site = f"https://h{number}.example.org"
        assert found.weight(site, f"{site}/x") == 0.5
        assert len(found._of_site) <= 3


def test_a_url_of_unusual_length_is_no_article() -> None:
    found = made(example_org=rules((".*", 1.0)))
    assert found.weight(SITE, f"{SITE}/{'x' * 400}") == 1.0
    assert found.weight(SITE, f"{SITE}/{'x' * 2_048}") == 0.0


def test_what_a_person_wrote_holds_below_the_domain_whatever_is_learnt_there() -> None:
    found = made(example_org=[*rules(("/news/.*", 1.0), ("/news/x", 0.0)), UrlRule("/old/.*", 1.0, "learnt")])
    found.replace("www.example.org", [UrlRule("/games/.*", 0.5, "learnt")])
    weights = [found.weight(SITE, SITE + path) for path in ("/games/1", "/news/1", "/news/x", "/old/1")]
    assert weights == [0.5, 1.0, 0.0, 0.0]
    found.replace("example.org", [])
    assert [found.weight(SITE, SITE + path) for path in ("/games/1", "/news/1")] == [0.5, 0.0]
