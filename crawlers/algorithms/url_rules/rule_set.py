"""Tests URLs against the rules of their domain; the cost doesn't grow with the number of domains."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from crawlers.algorithms.url_rules.rule_learner import HAND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlers.algorithms.url_rules.rule_learner import UrlRule

SITES_MAX = 65_536  # remembered with their domain; then all are looked up again
URL_MAX = 512  # longer ones are no articles; it bounds the time that a rule of a person takes, which may be its square

_Matcher = tuple["Callable[[str], re.Match[str] | None]", list[float]]


class RuleSet:
    """The rules of all domains.

    A host uses the rules of its longest parent domain that has any; it is one itself. What a person wrote for a domain
    holds as well for hosts below it of which only rules were learnt. Rules are compiled when a URL of their domain is
    tested for the first time.
    """

    def __init__(self) -> None:
        self._rules: dict[str, tuple[UrlRule, ...]] = {}
        self._matchers: dict[str, _Matcher] = {}
        self._of_site: dict[str, _Matcher | None] = {}

    def replace(self, domain: str, rules: Iterable[UrlRule]) -> None:
        """Let *rules* be those of *domain*; none at all leaves it to its parent domains."""
        kept = tuple(rules)
        if kept:
            self._rules[domain] = kept
        else:
            self._rules.pop(domain, None)
        self._matchers.clear()
        self._of_site.clear()

    def rules_of(self, host: str) -> tuple[UrlRule, ...]:
        """The rules that hold for *host*."""
        domain = self._domain(host)
        return () if domain is None else self._with_those_above(domain)

    def weight(self, site: str, url: str) -> float:
        """Return the largest weight among rules that *url* of *site* matches; 0.0 if none, or if one forbids it.

        *site* is scheme://host[:port], and *url* begins with it.

        Notes
        -----
        One look into a dictionary and one match, linear in the length of the URL for rules of a learner.
        """
        try:
            matcher = self._of_site[site]
        except KeyError:
            matcher = self._remembered(site)
        if matcher is None or len(url) > URL_MAX:
            return 0.0
        match = matcher[0](url[len(site) :])
        return matcher[1][match.lastindex or 0] if match else 0.0

    def _remembered(self, site: str) -> _Matcher | None:
        if len(self._of_site) >= SITES_MAX:
            self._of_site.clear()
        domain = self._domain(_host(site))
        if domain is not None and domain not in self._matchers:
            self._matchers[domain] = _compiled(self._with_those_above(domain))
        matcher = self._of_site[site] = None if domain is None else self._matchers[domain]
        return matcher

    def _with_those_above(self, domain: str) -> tuple[UrlRule, ...]:
        """The rules of *domain*, and by hand at least those of the nearest domain around it that has any."""
        rules, above = self._rules[domain], domain
        by_hand = [rule for rule in rules if rule.origin == HAND]
        if by_hand:
            return rules
        while above and not by_hand:
            above = above.partition(".")[2]
            by_hand = [rule for rule in self._rules.get(above, ()) if rule.origin == HAND]
        return (*rules, *by_hand)

    def _domain(self, host: str) -> str | None:
        name = host
        while name not in self._rules:
            _, dot, name = name.partition(".")
            if not dot:
                return None
        return name


def _host(site: str) -> str:
    authority = site.partition("://")[2]
    return authority.partition("]")[0] + "]" if authority.startswith("[") else authority.partition(":")[0]


def _compiled(rules: tuple[UrlRule, ...]) -> _Matcher:
    """One alternation: forbidding rules first, then by weight, so that the first that matches decides.

    Its groups are counted to find the weight of the one that matched: a rule may have groups of its own.
    """
    ordered = sorted(rules, key=lambda rule: (rule.weight > 0, -rule.weight, rule.regex))
    weights = [0.0]
    parts = []
    for weight, group in groupby(ordered, key=lambda rule: rule.weight):
        part = f"({'|'.join(f'(?:{rule.regex})' for rule in group)})"
        weights += [weight] * re.compile(part).groups
        parts.append(part)
    return re.compile("|".join(parts)).fullmatch, weights
