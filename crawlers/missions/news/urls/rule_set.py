"""Matches URLs against the rules of their domain, at a cost that does not depend on the number of domains."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlers.missions.news.urls.rule_learner import HAND, LEARNT
from crawlers.urls.addresses import parents
from crawlers.urls.url_expressions import UrlExpressions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.missions.news.urls.rule_learner import UrlRule

MAX_SITES = 65_536  # sites with a cached domain; beyond that the cache is cleared
MAX_RULES = 1_000  # manual rules per domain; a learner creates fewer
MAX_COMPILED = 10_000  # rules in memory; some 10 KB each after many URLs, at most `url_expressions.MEMORY_BYTES`


class _Matcher(NamedTuple):
    """The rules of a domain, compiled."""

    expressions: UrlExpressions
    weights: list[float]


class RuleSet:
    """The rules of all domains.

    A host uses its own rules, or those of its longest parent domain that has rules. Manual rules of a domain also apply
    to hosts below it that only have learnt rules. Rules are compiled when the first URL of their domain is matched.
    """

    def __init__(self) -> None:
        self._rules: dict[str, tuple[UrlRule, ...]] = {}
        self._expressions: dict[tuple[str, ...], UrlExpressions] = {}  # by their texts: shared by equal sets of rules
        self._compiled = 0  # number of rules in `_expressions`
        self._matchers: dict[str, _Matcher] = {}
        self._of_site: dict[str, _Matcher | None] = {}

    def replace(self, domain: str, rules: Iterable[UrlRule]) -> None:
        """Replace the rules of *domain*; without rules, it uses those of its parent domains."""
        kept = tuple(rules)
        if kept:
            self._rules[domain] = kept
        else:
            self._rules.pop(domain, None)
        for name in [name for name in self._matchers if name == domain or name.endswith(f".{domain}")]:
            del self._matchers[name]
        for site in [site for site in self._of_site if domain in site]:  # also drops a few that only contain the name
            del self._of_site[site]

    def replace_learnt(self, domain: str, learnt: Iterable[UrlRule]) -> None:
        """Replace the learnt rules of *domain*; manual and pinned ones are kept and take precedence."""
        kept = [rule for rule in self._rules.get(domain, ()) if rule.is_pinned or rule.origin != LEARNT]
        expressions = {rule.regex for rule in kept}
        kept += [rule for rule in learnt if rule.regex not in expressions]
        self.replace(domain, sorted(kept, key=lambda rule: -rule.weight))

    def rules_of(self, host: str) -> tuple[UrlRule, ...]:
        """Return the rules that apply to *host*."""
        domain = self._domain(host)
        return () if domain is None else self._inherited(domain)

    def has_rules(self, site: str) -> bool:
        """Return whether rules apply to *site*, scheme://host[:port]."""
        try:
            return self._of_site[site] is not None
        except KeyError:
            return self._cached(site) is not None

    def weight(self, site: str, url: str) -> float:
        """Return the largest weight of the rules that *url* of *site* matches; 0 if it matches none, or is forbidden.

        *site* is scheme://host[:port], and *url* begins with it. Raises `ConfigError` if a rule is invalid.

        Notes
        -----
        One dictionary look-up and one match, linear in the length of the URL.
        """
        try:
            matcher = self._of_site[site]
        except KeyError:
            matcher = self._cached(site)
        if matcher is None:
            return 0.0
        matching = matcher.expressions.matching(url[len(site) :])
        if not matching:
            return 0.0
        weights = [matcher.weights[index] for index in matching]
        return max(weights) if min(weights) > 0.0 else 0.0

    def _cached(self, site: str) -> _Matcher | None:
        if len(self._of_site) >= MAX_SITES:
            self._of_site.clear()
        domain = self._domain(_host(site))
        matcher = self._of_site[site] = None if domain is None else self._matcher(domain)
        return matcher

    def _matcher(self, domain: str) -> _Matcher:
        matcher = self._matchers.get(domain)
        if matcher is None:
            rules = self._inherited(domain)
            expressions = self._compile(tuple(rule.regex for rule in rules))
            matcher = self._matchers[domain] = _Matcher(expressions, [rule.weight for rule in rules])
        return matcher

    def _compile(self, texts: tuple[str, ...]) -> UrlExpressions:
        expressions = self._expressions.get(texts)
        if expressions is None:
            if self._compiled + len(texts) > MAX_COMPILED:
                for cache in (self._expressions, self._matchers, self._of_site):
                    cache.clear()
                self._compiled = 0
            expressions = self._expressions[texts] = UrlExpressions(texts)
            self._compiled += len(texts)
        return expressions

    def _inherited(self, domain: str) -> tuple[UrlRule, ...]:
        """Return the rules of *domain*; if none is manual, also the manual ones of the nearest parent with any."""
        rules = self._rules[domain]
        for name in parents(domain):
            manual = [rule for rule in self._rules.get(name, ()) if rule.origin == HAND]
            if manual:
                return rules if name == domain else (*rules, *manual)
        return rules

    def _domain(self, host: str) -> str | None:
        return next((name for name in parents(host) if name in self._rules), None)


def _host(site: str) -> str:
    authority = site.partition("://")[2]
    return authority.partition("]")[0] + "]" if authority.startswith("[") else authority.partition(":")[0]
