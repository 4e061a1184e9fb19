"""The set of rules: the domain of a URL, the largest weight, and rules that forbid URLs."""

from __future__ import annotations

import pytest

from crawlers.algorithms.url_rules import rule_set as module
from crawlers.algorithms.url_rules.rule_learner import UrlRule
from crawlers.algorithms.url_rules.rule_set import MAX_RULES, RuleSet

SITE = "https://www.example.org"


def rules(*pairs: tuple[str, float]) -> list[UrlRule]:
    return [UrlRule(regex, weight, "hand") for regex, weight in pairs]


def made(**domains: list[UrlRule]) -> RuleSet:
    found = RuleSet()
    for name, of_it in domains.items():
        found.replace(name.replace("_", "."), of_it)
    return found


def test_largest_weight_of_the_matching_rules_counts() -> None:
    found = made(example_org=rules(("/news/.*", 0.5), ("/news/[^/]+/", 0.9), ("/(n)(e)(w)s/x.*", 0.7)))
    assert found.weight(SITE, f"{SITE}/news/a/") == 0.9
    assert found.weight(SITE, f"{SITE}/news/x/y") == 0.7
    assert found.weight(SITE, f"{SITE}/news/a/b") == 0.5
    assert found.weight(SITE, f"{SITE}/news") == 0.0


def test_forbidding_rule_overrides_all_others() -> None:
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
def test_host_uses_the_rules_of_its_longest_domain_that_has_any(site: str, weight: float) -> None:
    found = made(example_org=rules(("/x", 0.5)), blog_example_org=rules(("/x", 0.25)))
    found.replace("[::1]", rules(("/x", 0.125)))
    assert found.weight(site, f"{site}/x") == weight


def test_rules_of_a_host_can_be_listed() -> None:
    found = made(example_org=rules(("/x", 0.5)))
    assert [rule.regex for rule in found.rules_of("www.example.org")] == ["/x"]
    assert found.rules_of("example.net") == ()


def test_new_rules_apply_at_once_and_a_domain_without_rules_uses_its_parent() -> None:
    found = made(example_org=rules(("/x", 0.5)), www_example_org=rules(("/x", 0.7)))
    assert found.weight(SITE, f"{SITE}/x") == 0.7
    found.replace("www.example.org", rules(("/y", 0.7)))
    assert found.weight(SITE, f"{SITE}/x") == 0.0
    found.replace("www.example.org", [])
    assert found.weight(SITE, f"{SITE}/x") == 0.5


def test_sites_are_evicted_from_the_cache_and_looked_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SITES", 3)
    found = made(example_org=rules(("/x", 0.5)))
    for number in (*range(10), *range(10)):
        site = f"https://h{number}.example.org"
        assert found.weight(site, f"{site}/x") == 0.5
        assert len(found._of_site) <= 3


def test_only_changed_rules_are_compiled_again() -> None:
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


def test_number_of_compiled_rules_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_COMPILED", 6)
    found = RuleSet()
    sites = [f"https://h{number}.example" for number in range(9)]
    for number in range(9):
        found.replace(f"h{number}.example", rules((f"/{number}", 0.5), (f"/{number}/.*", 0.7)))
    for _ in range(2):
        for number, site in enumerate(sites):
            assert [found.weight(site, f"{site}{path}") for path in (f"/{number}", f"/{number}/", "/x")] == [
                0.5,
                0.7,
                0.0,
            ]
            assert sum(map(len, found._expressions)) <= 6
            assert len(found._matchers) <= 3


def test_domains_with_the_same_rules_share_compiled_expressions_and_keep_their_weights() -> None:
    found = made(example_org=rules(("/x", 0.5)), example_net=rules(("/x", 0.7)))
    sites = ("https://example.org", "https://example.net")
    assert [found.weight(site, f"{site}/x") for site in sites] == [0.5, 0.7]
    assert len(found._expressions) == 1


def test_largest_number_of_rules_for_a_domain_is_matched_correctly() -> None:
    found = made(
        example_org=rules(*((f"/dir{number}/[^/]+/.*", 0.5) for number in range(MAX_RULES)), ("/dir7/x/.*", 0.0))
    )
    assert [found.weight(SITE, SITE + path) for path in ("/dir999/a/b", "/dir7/a/b", "/dir7/x/b", "/d/a/b")] == [
        0.5,
        0.5,
        0.0,
        0.0,
    ]


def test_long_url_is_matched_like_a_short_one() -> None:
    found = made(example_org=rules(("(?:/.*)*-(?:.*-)*.*x", 1.0)))
    url = f"{SITE}/{'-a' * 4_000}"
    assert [found.weight(SITE, url), found.weight(SITE, f"{url}x")] == [0.0, 1.0]


def test_manual_rules_apply_to_subdomains_with_learnt_rules() -> None:
    found = made(example_org=[*rules(("/news/.*", 1.0), ("/news/x", 0.0)), UrlRule("/old/.*", 1.0, "learnt")])
    found.replace("www.example.org", [UrlRule("/games/.*", 0.5, "learnt")])
    weights = [found.weight(SITE, SITE + path) for path in ("/games/1", "/news/1", "/news/x", "/old/1")]
    assert weights == [0.5, 1.0, 0.0, 0.0]
    found.replace("example.org", [])
    assert [found.weight(SITE, SITE + path) for path in ("/games/1", "/news/1")] == [0.5, 0.0]
