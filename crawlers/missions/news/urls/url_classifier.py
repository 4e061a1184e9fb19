"""Classifies the URLs of a news crawl: by rules of people, else by the log-odds of learnt ones and a model."""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from crawlers.items import OTHER
from crawlers.missions.news.article.article_evidence import label
from crawlers.missions.news.plan.news_scores import ARCHIVE, FIT, QueueSlot
from crawlers.missions.news.urls.rule_learner import FIRST_AT, MAX_LABELS, RuleLearner
from crawlers.missions.news.urls.stored_rules import LearntRulesRow
from crawlers.missions.news.urls.url_prior import OF_URLS, UrlPrior, log_odds, probability_of
from crawlers.missions.news.urls.url_tokens import target_of_url
from crawlers.plurals import plural
from crawlers.ranking.link_features import shipped_weights
from crawlers.urls.addresses import parents
from crawlers.urls.domains import rule_domain
from crawlers.urls.url_expressions import UrlExpressions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from crawlers.items import Target
    from crawlers.missions.news.article.article_evidence import StoredLabel
    from crawlers.missions.news.urls.rule_learner import UrlRule
    from crawlers.store.writing.change_set import ChangeSet

logger = logging.getLogger(__name__)

MAX_SITES = 2_000  # with compiled rules, some 30 kB each after many URLs; beyond that the cache is cleared


class _Matcher(NamedTuple):
    """The rules of a domain, compiled."""

    expressions: UrlExpressions
    rules: list[UrlRule]
    has_learnt: bool  # whether some of them were learnt, so that a URL which matches none is less probably an article


@lru_cache(maxsize=MAX_SITES)  # sites that are built with the same software share their rules
def _compiled(texts: tuple[str, ...]) -> UrlExpressions:
    return UrlExpressions(texts)


class RuleSet:
    """The rules of all domains; those of a domain apply to all hosts below it as well.

    Rules are compiled when the first URL of a site is matched.
    """

    def __init__(self) -> None:
        self._rules: dict[str, tuple[UrlRule, ...]] = {}
        self._of_site: dict[str, _Matcher | None] = {}

    def replace(self, domain: str, rules: Iterable[UrlRule]) -> None:
        """Replace the rules of *domain*."""
        new = tuple(rules)
        if new != self._rules.get(domain, ()):
            self._rules[domain] = new
            self._of_site.clear()

    def replace_learnt(self, domain: str, learnt: Iterable[UrlRule]) -> None:
        """Replace the learnt rules of *domain*; manual and pinned ones are kept and take precedence."""
        kept = [rule for rule in self._rules.get(domain, ()) if rule.is_of_people]
        expressions = {rule.regex for rule in kept}
        kept += [rule for rule in learnt if rule.regex not in expressions]
        self.replace(domain, sorted(kept, key=lambda rule: -rule.weight))

    def rules_of(self, host: str) -> list[UrlRule]:
        """Return the rules that apply to *host*."""
        return [rule for name in parents(host) for rule in self._rules.get(name, ())]

    def has_rules(self, site: str) -> bool:
        """Return whether rules apply to *site*, scheme://host[:port]."""
        return self._matcher(site) is not None

    def has_learnt(self, site: str) -> bool:
        """Return whether learnt rules apply to *site*."""
        return (matcher := self._matcher(site)) is not None and matcher.has_learnt

    def weight(self, site: str, url: str) -> float:
        """Return the weight of the rules that *url* of *site* matches, see `weight_of` and `matching`."""
        return weight_of(self.matching(site, url))

    def matching(self, site: str, url: str) -> list[UrlRule]:
        """Return the rules that *url* of *site* matches.

        *site* is scheme://host[:port], and *url* begins with it. Raises `ConfigError` if a rule is invalid.

        Notes
        -----
        One dictionary look-up and one match, linear in the length of the URL.
        """
        if (matcher := self._matcher(site)) is None:
            return []
        return [matcher.rules[index] for index in matcher.expressions.matching(url[len(site) :])]

    def _matcher(self, site: str) -> _Matcher | None:
        if site not in self._of_site:
            if len(self._of_site) >= MAX_SITES:
                self._of_site.clear()
            rules = self.rules_of(rule_domain(site))
            has_learnt = not all(rule.is_of_people for rule in rules)
            expressions = _compiled(tuple(rule.regex for rule in rules))
            self._of_site[site] = _Matcher(expressions, rules, has_learnt) if rules else None
        return self._of_site[site]


def weight_of(matched: Collection[UrlRule]) -> float:
    """Return the largest weight of the rules that a URL matches; 0 if there is none, or one forbids it.

    Rules of people stand above those that were learnt.
    """
    weights = [rule.weight for rule in matched if rule.is_of_people] or [rule.weight for rule in matched]
    return max(weights, default=0.0) if 0.0 not in weights else 0.0


_PAGE_WORDS = r"page|paged|pg|pagina|pagenum|page_?no|seite|sida|strona|stranica|stranitsa|p"
_QUERY = re.compile(
    rf"[?&;](?:(?:{_PAGE_WORDS}|start|offset|from|skip)=\d{{1,6}}|(?:date|day|month|year|archive)=[\d./-]{{4,10}})(?=[&;]|$)"
)
_PATH = re.compile(
    rf"/(?:(?:{_PAGE_WORDS})[/_-]?\d{{1,6}}(?:\.[a-z]{{3,5}})?"  # /page/7, /page-7.html, /p7
    r"|(?:archives?|archiv|archivo|archivio|arhiv|arkiv|calendar|kalender|sitemap)(?:[/.].*)?"
    r"|(?:19|20)\d\d(?:[/-]?(?:0?[1-9]|1[0-2])(?:[/-]?(?:0?[1-9]|[12]\d|3[01]))?)?"  # a year, month or day
    r")/?$"
)
_MAX_CHARS = 200  # of a path or query: pages of 60,000 links are classified in the reactor
_SEGMENTS = 3  # only the last ones are searched: a date has up to three segments


def is_archive(url: str) -> bool:
    """Return whether the absolute *url* looks like pagination, a calendar or an archive; a heuristic for any language.

    >>> [is_archive(f"http://a.example{path}") for path in ("/news/page/3", "/?page=2", "/2026/11/20/", "/archive/x")]
    [True, True, True, True]
    >>> [is_archive(f"http://a.example{path}") for path in ("/", "/2026/11/20/storm", "/story.php?id=12", "/sport/")]
    [False, False, False, False]
    """
    start = url.find("/", url.find("://") + 3)
    if start < 0:
        return False
    path, mark, query = url[start:].lower().partition("?")  # faster than a case-insensitive expression
    if mark and _QUERY.search(f"?{query[:_MAX_CHARS]}"):
        return True
    begin = len(path) - 1  # a trailing slash does not begin a segment
    for _ in range(_SEGMENTS):
        begin = max(0, path.rfind("/", 0, begin))
    return len(path) < _MAX_CHARS and _PATH.search(path, begin) is not None


def _is_only_archive(matched: Collection[UrlRule], url: str) -> bool:
    """Return whether *url* looks like an archive, and no rule says that it is an article."""
    return weight_of(matched) <= 0.0 and is_archive(url)


MISSED = 0.25  # weight of no rule, on a site with learnt rules
SUPPORT = 1.0  # the most log-odds that its URL adds to the evidence of a page
LEARNT_RULES, MANUAL_RULES, NO_RULES = "learnt", "manual", "none"  # values of NEWS_RULES


class _Taught(NamedTuple):
    """What the labels of one domain teach."""

    prior: UrlPrior
    rules: RuleLearner

    @property
    def generation(self) -> int:
        """How often the labels have doubled; then queue slots may change."""
        return self.rules.seen.bit_length()

    @property
    def trust(self) -> float:
        """What the log-odds of the rules count: 0.5 at first, 0.5 more at 32, 64, … labels, and 3.0 from 512 on.

        They are learnt from `MAX_LABELS` labels at most: later ones replace others, and make the rules no surer.
        """
        return max(1, min(self.rules.seen, MAX_LABELS).bit_length() - FIRST_AT.bit_length() + 1) / 2


class UrlClassifier:
    """Classifies URLs, and learns rules from labelled pages, domain by domain.

    *used* is one of the values of NEWS_RULES: which rules count. If rules are learnt, the log-odds that a URL is an
    article are those of the prior; on sites with learnt rules, those of the weight of the rule that it matches are
    added, the more the more labels there were. Rules of people stand above both.
    """

    def __init__(self, used: str) -> None:
        self._rules = RuleSet()
        self._applies = used != NO_RULES
        self._learns = used == LEARNT_RULES
        self._weights = shipped_weights(OF_URLS) if self._learns else {"": 0.0}
        self._taught: dict[str, _Taught] = {}  # by domain
        self._untaught = self._new()

    def replace(self, domain: str, rules: Sequence[UrlRule]) -> None:
        """Replace the rules of *domain* by the stored ones; those learnt earlier count only where rules are learnt."""
        if self._applies:
            self._rules.replace(domain, (rule for rule in rules if self._learns or rule.is_of_people))

    def forget_labels(self, domain: str) -> None:
        """Forget the labels of *domain*, from which another worker learns from now on; its rules are kept."""
        self._taught.pop(domain, None)

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
        """Return the queue slot of *url* of *site*, unless a feed announced it.

        That of a probable article has its probability; others wait in the order in which they were found.
        """
        matched = self._rules.matching(site, url)
        if _is_only_archive(matched, url):
            return QueueSlot(ARCHIVE, 0.0)
        if not self._learns or any(rule.is_of_people for rule in matched):
            weight = weight_of(matched)
            return QueueSlot(FIT, weight) if weight > 0.0 else QueueSlot(OTHER, 0.0)
        odds = self._odds(site, url, matched)
        # Sections, which lead to articles, are found before most pages; copies of articles look more like articles.
        return QueueSlot(FIT, probability_of(odds)) if odds >= 0.0 else QueueSlot(OTHER, 0.0)

    def probability(self, site: str, url: str) -> float:
        """Return the probability that *url* of *site* is an article, where rules are learnt and no person has any."""
        matched = self._rules.matching(site, url)
        return 0.0 if _is_only_archive(matched, url) else probability_of(self._odds(site, url, matched))

    def odds(self, site: str, url: str) -> float:
        """Return the log-odds that *url* of *site* is an article, where rules are learnt and no person has any."""
        return self._odds(site, url, self._rules.matching(site, url))

    def _odds(self, site: str, url: str, matched: Collection[UrlRule]) -> float:
        taught = self._taught_of(rule_domain(site))
        odds = taught.prior.odds(url[len(site) :])
        if not self._rules.has_learnt(site):
            return odds
        return odds + taught.trust * log_odds(weight_of(matched) if matched else MISSED)

    def support(self, site: str, url: str) -> float:
        """Return the log-odds, from 0 to `SUPPORT`, that its URL adds to the evidence of the page at *url*.

        They are those of its slot: a URL that waits with archives or other pages adds nothing.
        """
        return max(0.0, min(SUPPORT, log_odds(self.slot(site, url).value)))

    def label(self, site: str, url: str, odds: float, changes: ChangeSet, now: float) -> bool:
        """Learn from the log-odds *odds* that the page at *url* of *site* is an article; uncertain ones are ignored.

        Learnt rules are added to *changes*. Returns whether the slots of pages of the domain may have changed, as they
        may at each doubling of its labels.
        """
        domain = rule_domain(site)
        generation = self._taught_of(domain).generation
        are_due = self._take_label(domain, url, odds)
        taught = self._taught_of(domain)
        if not are_due:
            return taught.generation != generation
        before = self._rules.rules_of(domain)
        learnt = taught.rules.rules(now)
        self._rules.replace_learnt(domain, learnt)
        changes.add(LearntRulesRow(domain, tuple(learnt)))
        rules = self._rules.rules_of(domain)
        if {(rule.regex, rule.weight) for rule in rules} != {(rule.regex, rule.weight) for rule in before}:
            noun = plural(len(rules), "rule")
            logger.info("%s: %d %s for articles, %d of them learnt", domain, len(rules), noun, len(learnt))
        return True

    def recall(self, labels: Iterable[StoredLabel]) -> None:
        """Restore what was learnt from *labels*, those of previous runs or of another worker, the oldest first.

        The rules that were learnt from them are stored.
        """
        for one in labels:
            self._take_label(rule_domain(one.site), one.url, one.odds)

    def _take_label(self, domain: str, url: str, odds: float) -> bool:
        """Learn from a label; return whether it makes rules due."""
        is_article, target = label(odds), target_of_url(url)
        if not self._learns or is_article is None:
            return False
        if domain not in self._taught:
            self._taught[domain] = self._new()
        self._taught[domain].prior.label(target, is_article)
        return self._taught[domain].rules.label(target, is_article)

    def _new(self) -> _Taught:
        return _Taught(UrlPrior(self._weights), RuleLearner())

    def _taught_of(self, domain: str) -> _Taught:
        return self._taught.get(domain, self._untaught)

    def fingerprint(self, site: str) -> str:
        """Return a hash that changes whenever `slot` may change for a URL of *site*."""
        domain = rule_domain(site)
        rules = sorted((rule.regex, rule.weight, rule.is_of_people) for rule in self._rules.rules_of(domain))
        known = (self._learns, rules, self._taught_of(domain).generation)
        return blake2b(repr(known).encode(), digest_size=8).hexdigest()
