"""Classifies the URLs of a news crawl: by manual rules, by those learnt during the crawl, else by a prior."""

from __future__ import annotations

import logging
import math
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from crawlers.items import QueueSlot
from crawlers.missions.news.article.article_labels import label
from crawlers.missions.news.plan.list_yields import ListYields
from crawlers.missions.news.plan.news_scores import ARCHIVE, FIT, LISTS
from crawlers.missions.news.urls.archive_urls import is_archive
from crawlers.missions.news.urls.rule_learner import LEARNT, RuleLearner
from crawlers.missions.news.urls.rule_set import RuleSet
from crawlers.missions.news.urls.url_tokens import target_of_url
from crawlers.plurals import plural
from crawlers.ranking.page_scores import OTHER
from crawlers.urls.domains import rule_domain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from crawlers.items import Target
    from crawlers.missions.news.article.article_labels import Label, StoredLabel
    from crawlers.missions.news.urls.rule_learner import LearningTask, UrlRule
    from crawlers.missions.news.urls.url_prior import UrlPrior

logger = logging.getLogger(__name__)

PROBABLE = 0.5  # probability by the prior from which a URL waits with those that rules classify as articles
SUPPORT = 1.0  # the most log-odds that the prior of its URL adds to the evidence of a page


class LearntRules(NamedTuple):
    """The rules that were learnt for a domain."""

    domain: str
    rules: tuple[UrlRule, ...]
    is_change: bool  # of the queue slots


LEARNT_RULES, MANUAL_RULES, NO_RULES = (
    "learnt",
    "manual",
    "none",
)  # values of NEWS_RULES


class UrlClassifier:
    """Classifies URLs, and learns rules from labelled pages, domain by domain.

    *rules* are the stored rules by domain. Rules are only learnt if *learns*, and only applied if *applies*. The values
    of queue slots are *else_factor*, or *fit_factor* times the weight of the matching rule. The *prior* classifies the
    URLs of sites that have no rules; None: they are all alike.
    """

    def __init__(
        self,
        rules: Mapping[str, Sequence[UrlRule]],
        *,
        learns: bool,
        applies: bool = True,
        fit_factor: float,
        else_factor: float,
        prior: UrlPrior | None = None,
    ) -> None:
        self._prior = prior
        self._base = prior.shipped().base if prior is not None else None
        self._yields = ListYields()
        self._taught: set[str] = set()  # sites whose pages taught what is known of all domains
        self._rules = RuleSet()
        for domain, stored in rules.items() if applies else ():
            self._rules.replace(domain, stored)
        self._learns = learns
        self._applies = applies
        self._fit_factor = fit_factor
        self._else_factor = else_factor
        self._learners: dict[str, RuleLearner] = {}
        self._learning: dict[str, LearningTask] = {}  # by domain, while its rules are being learnt

    def replace(self, domain: str, rules: Sequence[UrlRule]) -> None:
        """Replace the rules of *domain* by the stored ones."""
        if self._applies:
            self._rules.replace(domain, rules)

    def forget_labels(self, domain: str) -> None:
        """Forget the labels of *domain*, from which another worker learns from now on; its rules are kept."""
        self._learners.pop(domain, None)
        self._learning.pop(domain, None)
        self._yields.forget(domain)
        if self._prior is not None:
            self._prior.forget(domain)

    def weight(self, site: str, url: str) -> float:
        """Return the confidence in [0, 1] that *url* of *site* is an article, by the rules."""
        return self._rules.weight(site, url)

    def has_rules(self, site: str) -> bool:
        """Return whether there are rules for *site*."""
        return self._rules.has_rules(site)

    def slot_of(self, target: Target) -> QueueSlot:
        """Return the queue slot of *target*, unless a feed announced it."""
        return self.slot(target.site, target.url if target.url.startswith(target.site) else target.normalized)

    def slot(self, site: str, url: str) -> QueueSlot:
        """Return the queue slot of *url* of *site*, unless a feed announced it."""
        weight = self._rules.weight(site, url)
        if weight > 0.0:
            return QueueSlot(FIT, self._fit_factor * weight)
        is_old = is_archive(url)
        probability = 0.0 if is_old else self.prior(site, url)
        if probability >= PROBABLE:
            return QueueSlot(FIT, self._fit_factor * probability)
        domain, target = rule_domain(site), url[len(site) :]
        if self._yields.is_good(domain, target):
            return QueueSlot(LISTS, self._else_factor * self._yields.expected(domain, target))
        return QueueSlot(ARCHIVE if is_old else OTHER, self._else_factor)

    def record_listing(self, site: str, url: str, articles: int) -> bool:
        """Record how many new *articles* the page at *url* of *site* shows.

        Returns whether pages of *site* should be queued anew.
        """
        self._taught.add(site)
        return self._yields.read(rule_domain(site), target_of_url(url), articles)

    def prior(self, site: str, url: str) -> float:
        """Return the probability that *url* of *site* is an article by the prior; 0 if there are rules, or no prior."""
        if self._prior is None or self._rules.has_rules(site):
            return 0.0
        return self._prior.probability(rule_domain(site), url[len(site) :])

    def support(self, site: str, url: str) -> float:
        """Return the log-odds, from 0 to `SUPPORT`, that the prior adds to the evidence of the page at *url*."""
        probability = self.prior(site, url)
        return min(SUPPORT, math.log(probability / (1.0 - probability))) if probability > PROBABLE else 0.0

    def label(self, site: str, url: str, odds: float) -> bool:
        """Record the log-odds *odds* that the page at *url* of *site* is an article; uncertain ones are ignored.

        Returns whether the prior has learnt so much that pages of *site* should be queued anew.
        """
        found = label(odds)
        if not self._learns or found is None:
            return False
        learner = self._learner(site)
        learner.label(url, found.is_article, found.weight)
        learner.judged(self.weight(site, url) > 0.0, found.is_article)
        is_taught = self._teach(site, url, found)
        return is_taught and not self._rules.has_rules(site) and self._is_doubling(site)

    def _teach(self, site: str, url: str, found: Label, *, is_known: bool = False) -> bool:
        """Teach the prior the label of a URL, which the crawl knows or not; return whether it learnt from it."""
        self._taught.add(site)
        if self._prior is None:
            return False
        target = target_of_url(url)
        return self._prior.label(rule_domain(site), target, found.is_article, found.weight, of_crawl=not is_known)

    def _is_doubling(self, site: str) -> bool:
        count = self._prior.labels(rule_domain(site)) if self._prior is not None else 0
        return count & (count - 1) == 0

    def recall(self, labels: Iterable[StoredLabel]) -> None:
        """Restore what was learnt from *labels*, those of previous runs or of another worker, the oldest first.

        The rules that were learnt from them are stored. Sites that this worker has held before have taught what is
        known of all domains already.
        """
        known, recalled = frozenset(self._taught), set()
        learnt_at: dict[str, float] = {}
        for site, url, odds, articles, labelled_at in labels:
            found, domain = label(odds), rule_domain(site)
            if articles is not None:
                self._taught.add(site)
                self._yields.read(domain, target_of_url(url), articles, of_all=site not in known)
            if self._learns and found is not None:
                if domain not in recalled:
                    recalled.add(domain)
                    its = [rule.learnt_at for rule in self._rules.rules_of(domain) if rule.origin == LEARNT]
                    learnt_at |= {domain: max(its)} if its else {}
                if (labelled_at or 0.0) > learnt_at.get(domain, math.inf):
                    del learnt_at[domain]  # the process may have been killed before rules were learnt from this one
                    self._learner(site).has_learnt()
                self._learner(site).label(url, found.is_article, found.weight)
                self._teach(site, url, found, is_known=site in known)
        for domain in learnt_at:
            self._learners[domain].has_learnt()

    def is_due(self, site: str) -> bool:
        """Return whether rules should be learnt for the domain of *site*."""
        learner = self._learners.get(rule_domain(site))
        return learner is not None and learner.is_due

    @property
    def learning(self) -> Collection[str]:
        """The domains whose rules are being learnt."""
        return self._learning.keys()

    def task(self, site: str) -> LearningTask | None:
        """Return the task of `learn_rules` for the domain of *site*, which is `learning` until `learnt` or `failed`.

        None if it is not due, or is being learnt.
        """
        domain = rule_domain(site)
        if domain in self._learning or not self.is_due(site):
            return None
        task = self._learning[domain] = self._learner(site).task(self._rules.rules_of(domain))
        return task

    def record_failure(self, domain: str, task: LearningTask) -> None:
        """Record that no rules were learnt by *task*; they are due again soon."""
        self._end(domain, task, has_failed=True)

    def _end(self, domain: str, task: LearningTask, *, has_failed: bool) -> bool:
        """End *task*; return whether the labels of its domain are still known."""
        if self._learning.get(domain) is not task:
            return False
        del self._learning[domain]
        self._learners[domain].end_task(has_failed=has_failed)
        return True

    def apply_rules(self, domain: str, task: LearningTask, rules: Sequence[UrlRule]) -> LearntRules | None:
        """Apply the *rules* that *task* gave for *domain*.

        Returns None if the labels of the domain were forgotten in the meantime.
        """
        if not self._end(domain, task, has_failed=False):
            return None
        before = self._rules.rules_of(domain)
        learnt = tuple(rules)
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
        domain = rule_domain(site)
        rules = sorted((rule.regex, rule.weight) for rule in self._rules.rules_of(domain))
        learnt = -1 if rules or self._prior is None else self._prior.labels(domain).bit_length()
        return blake2b(repr((self._fit_factor, self._else_factor, rules, learnt)).encode(), digest_size=8).hexdigest()

    def _learner(self, site: str) -> RuleLearner:
        domain = rule_domain(site)
        learner = self._learners.get(domain)
        if learner is None:
            learner = self._learners[domain] = RuleLearner(domain, self._base)
        return learner
