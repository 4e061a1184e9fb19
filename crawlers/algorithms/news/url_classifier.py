"""The URL rules of a news crawl: manual ones, and those learnt during the crawl."""

from __future__ import annotations

import logging
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from crawlers.algorithms.news.archive_urls import is_archive
from crawlers.algorithms.news.article_labels import label
from crawlers.algorithms.plurals import plural
from crawlers.algorithms.ranking.news_scores import ARCHIVE, FIT
from crawlers.algorithms.ranking.page_scores import OTHER
from crawlers.algorithms.url_rules.rule_learner import LEARNT, RuleLearner
from crawlers.algorithms.url_rules.rule_set import RuleSet
from crawlers.algorithms.urls.domains import rule_domain
from crawlers.items import QueueSlot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crawlers.algorithms.url_rules.rule_learner import UrlRule
    from crawlers.items import Target

logger = logging.getLogger(__name__)


class LearntRules(NamedTuple):
    """The rules that were learnt for a domain."""

    domain: str
    rules: tuple[UrlRule, ...]
    is_change: bool  # of the queue slots


class UrlClassifier:
    """Classifies URLs, and learns rules from labelled pages, domain by domain.

    *rules* are the stored rules by domain. Rules are only learnt if *learns*, and only applied if *applies*. The values
    of queue slots are *else_factor*, or *fit_factor* times the weight of the matching rule.
    """

    def __init__(
        self,
        rules: Mapping[str, Sequence[UrlRule]],
        *,
        learns: bool,
        applies: bool = True,
        fit_factor: float,
        else_factor: float,
    ) -> None:
        self._rules = RuleSet()
        for domain, stored in rules.items() if applies else ():
            self._rules.replace(domain, stored)
        self._learns = learns
        self._applies = applies
        self._fit_factor = fit_factor
        self._else_factor = else_factor
        self._learners: dict[str, RuleLearner] = {}

    def replace(self, domain: str, rules: Sequence[UrlRule]) -> None:
        """Replace the rules of *domain* by the stored ones."""
        if self._applies:
            self._rules.replace(domain, rules)

    def forget_labels(self, domain: str) -> None:
        """Forget the labels of *domain*, from which another worker learns from now on; its rules are kept."""
        self._learners.pop(domain, None)

    def weight(self, site: str, url: str) -> float:
        """Return the confidence in [0, 1] that *url* of *site* is an article, by the rules."""
        return self._rules.weight(site, url)

    def has_rules(self, site: str) -> bool:
        """Return whether there are rules for *site*."""
        return bool(self._rules.rules_of(rule_domain(site)))

    def slot_of(self, target: Target) -> QueueSlot:
        """Return the queue slot of *target*, unless a feed announced it."""
        return self.slot(target.site, target.url if target.url.startswith(target.site) else target.normalized)

    def slot(self, site: str, url: str) -> QueueSlot:
        """Return the queue slot of *url* of *site*, unless a feed announced it."""
        weight = self._rules.weight(site, url)
        if weight > 0.0:
            return QueueSlot(FIT, self._fit_factor * weight)
        return QueueSlot(ARCHIVE if is_archive(url) else OTHER, self._else_factor)

    def label(self, site: str, url: str, odds: float) -> None:
        """Record the log-odds *odds* that the page at *url* of *site* is an article; uncertain ones are ignored."""
        is_article = label(odds)
        if not self._learns or is_article is None:
            return
        learner = self._learner(site)
        learner.label(url, is_article)
        learner.judged(self.weight(site, url) > 0.0, is_article)

    def recall(self, labels: Iterable[tuple[str, str, float]]) -> None:
        """Restore the *labels* of previous runs (site, URL, log-odds), from which the stored rules were learnt."""
        recalled: set[str] = set()
        for site, url, odds in labels:
            is_article = label(odds)
            if self._learns and is_article is not None:
                self._learner(site).label(url, is_article)
                recalled.add(rule_domain(site))
        for domain in recalled:
            if any(rule.origin == LEARNT for rule in self._rules.rules_of(domain)):
                self._learners[domain].has_learnt()

    def learn(self, site: str, now: float) -> LearntRules | None:
        """Learn the rules for the domain of *site* if they are due at *now*, in seconds since 1970; return them."""
        domain = rule_domain(site)
        learner = self._learners.get(domain)
        if learner is None or not learner.is_due:
            return None
        before = self._rules.rules_of(domain)
        learnt = tuple(learner.learn(now, before))
        if self._applies:
            self._rules.replace_learnt(domain, learnt)
        rules = self._rules.rules_of(domain)
        is_change = {(rule.regex, rule.weight) for rule in rules} != {(rule.regex, rule.weight) for rule in before}
        if is_change:
            noun = plural(len(rules), "rule")
            logger.info("%s: %d %s for articles, %d of them learnt", domain, len(rules), noun, len(learnt))
        return LearntRules(domain, learnt, is_change)

    def fingerprint(self, site: str) -> str:
        """Return a hash that changes whenever `slot` may change for a URL of *site*."""
        rules = sorted((rule.regex, rule.weight) for rule in self._rules.rules_of(rule_domain(site)))
        return blake2b(repr((self._fit_factor, self._else_factor, rules)).encode(), digest_size=8).hexdigest()

    def _learner(self, site: str) -> RuleLearner:
        domain = rule_domain(site)
        learner = self._learners.get(domain)
        if learner is None:
            learner = self._learners[domain] = RuleLearner(domain)
        return learner
