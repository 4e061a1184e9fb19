"""The set of rules: the domain of a URL, the largest weight, and rules that forbid URLs."""

import pytest

from crawlers.missions.news.urls import url_classifier as module
from crawlers.missions.news.urls.rule_learner import UrlRule
from crawlers.missions.news.urls.url_classifier import RuleSet

SITE = "https://www.example.org"


def rules(*pairs):
    return [UrlRule(regex, weight, "hand") for regex, weight in pairs]


def made(**domains):
    found = RuleSet()
    for name, of_it in domains.items():
        found.replace(name.replace("_", "."), of_it)
    return found


def test_alternatives_of_a_rule_stay_in_it():
    found = made(example_org=rules(("/a|/b", 1.0), ("^/c$", 1.0)))
    assert [found.weight(SITE, SITE + path) for path in ("/a", "/b", "/c", "/a/b", "/bb")] == [1.0, 1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("site", "weight"),
    [
        ("http://example.org", 0.5),
        ("https://a.b.example.org", 0.5),
        ("https://my.blog.example.org", 0.25),
        ("https://notexample.org", 0.0),
        ("https://org", 0.0),
        ("http://[::1]:80", 0.125),
    ],
)
def test_host_uses_the_rules_of_its_longest_domain_that_has_any(site, weight):
    found = made(example_org=rules(("/x", 0.5)), blog_example_org=rules(("/x", 0.25)))
    found.replace("[::1]", rules(("/x", 0.125)))
    assert found.weight(site, f"{site}/x") == weight


def test_rules_of_a_host_can_be_listed():
    found = made(example_org=rules(("/x", 0.5)))
    assert [rule.regex for rule in found.rules_of("www.example.org")] == ["/x"]
    assert found.rules_of("example.net") == ()


def test_sites_are_evicted_from_the_cache_and_looked_up_again(monkeypatch):
    monkeypatch.setattr(module, "MAX_SITES", 3)
    found = made(example_org=rules(("/x", 0.5)))
    for number in (*range(10), *range(10)):
        site = f"https://h{number}.example.org"
        assert found.weight(site, f"{site}/x") == 0.5
        assert len(found._of_site) <= 3


def test_only_changed_rules_are_compiled_again():
    found = made(example_org=rules(("/x", 0.5)), example_net=rules(("/x", 0.5)))
    found.replace("blog.example.org", [UrlRule("/y", 0.25, "learnt")])
    sites = [SITE, "https://blog.example.org", "https://example.net", "https://example.com"]
    assert [found.weight(site, f"{site}/x") for site in sites] == [0.5, 0.5, 0.5, 0.0]
    before = dict(found._matchers)
    found.replace("example.org", rules(("/z", 0.7)))
    assert list(found._matchers) == ["example.net"]
    assert list(found._of_site) == ["https://example.net", "https://example.com"]
    assert [found.weight(site, f"{site}/z") for site in sites] == [0.7, 0.7, 0.0, 0.0]
    assert found._matchers["example.net"] is before["example.net"]
    found.replace("example.com", rules(("/z", 0.7)))
    assert found.weight("https://example.com", "https://example.com/z") == 0.7


def test_number_of_compiled_rules_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "MAX_COMPILED", 6)
    found = RuleSet()
    sites = [f"https://h{number}.example" for number in range(9)]
    for number in range(9):
        found.replace(f"h{number}.example", rules((f"/{number}", 0.5), (f"/{number}/.*", 0.7)))
    for _ in range(2):
        for number, site in enumerate(sites):
            weights = [found.weight(site, f"{site}{path}") for path in (f"/{number}", f"/{number}/", "/x")]
            assert weights == [0.5, 0.7, 0.0]
            assert sum(map(len, found._expressions)) <= 6
            assert len(found._matchers) <= 3


def test_manual_rules_apply_to_subdomains_with_learnt_rules():
    found = made(example_org=[*rules(("/news/.*", 1.0), ("/news/x", 0.0)), UrlRule("/old/.*", 1.0, "learnt")])
    found.replace("www.example.org", [UrlRule("/games/.*", 0.5, "learnt")])
    weights = [found.weight(SITE, SITE + path) for path in ("/games/1", "/news/1", "/news/x", "/old/1")]
    assert weights == [0.5, 1.0, 0.0, 0.0]
    found.replace("example.org", [])
    assert [found.weight(SITE, SITE + path) for path in ("/games/1", "/news/1")] == [0.5, 0.0]
