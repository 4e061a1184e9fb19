"""What is decided about URLs: by which rule, in which queue; and what a rule would match of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from crawlers.items import State
from crawlers.missions.news.plan.news_scores import ARCHIVE, FIT, FRESH
from crawlers.missions.news.stored.news_tables import document, news_score
from crawlers.missions.news.urls.rule_learner import MAX_LABELS
from crawlers.missions.news.urls.stored_rules import labels_of, stored_rules_of
from crawlers.missions.news.urls.url_classifier import LEARNT_RULES, UrlClassifier
from crawlers.missions.news.urls.url_tokens import target_of_url
from crawlers.reasons import Reason, code_of
from crawlers.reports.catalogue.conditions import contains
from crawlers.reports.histories.history import Said, said
from crawlers.reports.histories.score_history import waiting
from crawlers.store.reading.crawl_settings import recorded
from crawlers.store.schema.tables import page, site
from crawlers.urls.addresses import parents
from crawlers.urls.domains import is_in_domain, rule_domain
from crawlers.urls.resolution import site_of
from crawlers.urls.url_expressions import UrlExpressions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import Connection

    from crawlers.missions.news.urls.stored_rules import StoredRule

SAMPLE = 20  # URLs of each kind that are shown
# URLs that were read come first: whether they are documents is known.
_STATES = (State.DONE, State.WAITING, State.REFUSED, State.REJECTED, State.MOVED, State.FAILED)


class Decision(NamedTuple):
    """What the rules of a site say about a URL."""

    rules: list[StoredRule]  # those that apply to its site
    matching: list[StoredRule]  # those that it matches, the highest weight first
    deciding: StoredRule | None  # one that forbids, or that of the highest weight; None: it matches none


class Sample:
    """The first of some URLs, and the number of all, of documents, and of others that were read.

    With each of the first is said whether it is known to be a document, or to be none; None: it was not read.
    """

    def __init__(self) -> None:
        self.first: list[tuple[str, bool | None]] = []
        self.number = self.documents = self.others = 0

    def add(self, url: str, is_document: bool | None) -> None:
        """Count a URL."""
        self.number += 1
        self.documents += is_document is True
        self.others += is_document is False
        if len(self.first) < SAMPLE:
            self.first.append((url, is_document))


class Trial(NamedTuple):
    """What a rule matches among the first URLs of some sites; if it *is_cut*, there are more that were not tried."""

    matched: Sample
    missed: Sample
    is_cut: bool = False

    @property
    def tested(self) -> int:
        """The number of URLs that were tried."""
        return self.matched.number + self.missed.number

    @property
    def precision(self) -> float | None:
        """The share of documents among the URLs that match and were read; None if there are none."""
        read = self.matched.documents + self.matched.others
        return self.matched.documents / read if read else None

    @property
    def is_good(self) -> bool | None:
        """Whether to keep the rule; False: forbid what it matches; None: most of that was not read."""
        is_mostly_read = 2 * (self.matched.documents + self.matched.others) > self.matched.number
        return self.precision >= 0.5 if self.precision is not None and is_mostly_read else None


def rules_at(connection: Connection, site: str) -> list[StoredRule]:
    """Return the rules that a crawl applies to URLs of *site*, scheme://host[:port]: the highest weight first."""
    rules = stored_rules_of(connection, [*parents(rule_domain(site))])
    return sorted(rules, key=lambda stored: -stored.rule.weight)


def decision(connection: Connection, url: str) -> Decision:
    """Return which rule decides about *url*, an absolute one. Raises `ConfigError` if a stored rule is invalid."""
    name = site_of(url)
    rules = rules_at(connection, name)
    found = UrlExpressions([stored.rule.regex for stored in rules]).matching(target_of_url(url))
    matching = sorted((rules[index] for index in found), key=lambda stored: -stored.rule.weight)
    if not matching:
        return Decision(rules, [], None)
    return Decision(rules, matching, matching[-1] if matching[-1].rule.weight == 0 else matching[0])


def probability_at(connection: Connection, crawl_id: int, url: str, found: Decision) -> float | None:
    """Return the probability that *url*, an absolute one, is an article, by the rules *found* for it and the labels.

    The crawl orders by it, but for labels beyond the first `MAX_LABELS`: 0 for archives that no rule
    fits. None if a rule of people decides, or nothing is learnt.
    """
    name, domain = site_of(url), rule_domain(site_of(url))
    is_decided = any(stored.rule.is_of_people for stored in found.matching)
    if is_decided or recorded(connection, crawl_id, "NEWS_RULES") != {"NEWS_RULES": LEARNT_RULES}:
        return None
    classifier = UrlClassifier(LEARNT_RULES)
    classifier.replace(domain, [stored.rule for stored in found.rules])
    similar = select(site.c.id, site.c.site).where(site.c.crawl_id == crawl_id, contains(site.c.site, domain))
    site_ids = [site_id for site_id, name in connection.execute(similar) if rule_domain(name) == domain]
    classifier.recall(labels_of(connection, site_ids, MAX_LABELS))
    return classifier.probability(name, url)


def trial(
    connection: Connection,
    site_ids: Sequence[int],
    expressions: UrlExpressions,
    most: int,
    is_over: Callable[[], bool],
) -> Trial:
    """Try one rule on at most *most* URLs of the sites with these numbers, until the time *is_over*.

    RE2 takes time by the length of a URL, milliseconds at worst. Raises `MemoryError` if it needs too much memory.
    """
    found = Trial(Sample(), Sample())
    for number, (url, is_document) in enumerate(_stored(connection, site_ids, most + 1)):
        if number == most or is_over():
            return found._replace(is_cut=True)
        (found.matched if expressions.matching(target_of_url(url)) else found.missed).add(url, is_document)
    return found


def latest_sites(connection: Connection, domain: str) -> list[int]:
    """Return the numbers of the sites of *domain* in their latest crawls."""
    latest = connection.execute(select(func.max(site.c.id), site.c.site).group_by(site.c.site))
    return [site_id for site_id, name in latest if is_in_domain(name, domain)]


def _stored(connection: Connection, site_ids: Sequence[int], most: int) -> Iterator[tuple[str, bool | None]]:
    left = most
    for state in _STATES:
        for site_id in site_ids:
            statement = (
                select(page.c.url, page.c.reason, document.c.page_id)
                .outerjoin(document, document.c.page_id == page.c.id)
                .where(page.c.site_id == site_id, page.c.state == int(state))
                .order_by(page.c.level, page.c.id)
                .limit(left)
            )
            for url, reason, number in connection.execute(statement):
                left -= 1
                is_document = number is not None or code_of(reason) is Reason.STORED_EARLIER
                yield url, is_document if is_document or state is State.DONE else None
            if not left:
                return


_NEWS_QUEUES = {
    ARCHIVE: said("lists and archives"),
    FIT: said("URLs that are articles by a rule or probably"),
    FRESH: said("announced or recent pages"),
}


def queue_facts(connection: Connection, crawl_id: int, page_id: int, is_over: Callable[[], bool]) -> list[Said]:
    """Return where a page waits; nothing in crawls of other missions."""
    row = connection.execute(select(news_score).where(news_score.c.page_id == page_id)).one_or_none()
    if row is None or not (lines := waiting(connection, news_score, row)):
        return []
    if row.queue == FIT:
        lines.append(said("an article with a confidence of %(confidence)s", confidence=f"{row.value:.2f}"))
    if row.queue in _NEWS_QUEUES:
        lines.append(said("in the queue of %(kind)s", kind=_NEWS_QUEUES[row.queue]))
    return lines
