"""Rules that classify URLs as articles, and a learner of the rules of one domain from labelled URLs."""

from __future__ import annotations

from dataclasses import dataclass

from crawlers.missions.news.urls.url_pattern import learn_patterns
from crawlers.urls.url_expressions import is_expression

MAX_LABELS = 1_000  # 0.15 MB; learning from them takes some 35 ms
MIN_KIND = 5  # labels of each kind: without other pages, every URL similar to the few articles would match
FIRST_AT = 20  # labels; then at each doubling of their number
MAX_RULES = 1_000  # manual rules per domain; a learner creates fewer

HAND, LEARNT = "hand", "learnt"  # origins of rules


@dataclass(frozen=True, slots=True)
class UrlRule:
    """An expression for URLs of a domain: see `url_expressions`.

    *weight* in (0, 1] is the confidence that a matching URL is an article; 0 forbids matching URLs. *support* is the
    number of labels from which the rule was learnt, *precision_low* the lower bound (Wilson, one-sided 90 %) of the
    share of articles among them, and *learnt_at* the time of learning, in seconds since 1970.
    """

    regex: str
    weight: float
    origin: str  # `HAND` or `LEARNT`
    is_pinned: bool = False
    support: int = 0
    precision_low: float = 0.0
    learnt_at: float = 0.0

    @property
    def is_of_people(self) -> bool:
        """Whether a person wrote or confirmed it: it stands above what is learnt."""
        return self.is_pinned or self.origin != LEARNT


class RuleLearner:
    """Collects the labels of one domain, and learns rules from them.

    It keeps `MAX_LABELS` labels, one per URL; beyond that, the oldest label of the more frequent kind (articles or
    others) is dropped.
    """

    def __init__(self) -> None:
        self._labels: dict[str, bool] = {}  # by path and query, the oldest first
        self._articles = 0  # of them
        self.seen = 0  # URLs ever labelled
        self._due_at = FIRST_AT

    def label(self, target: str, is_article: bool) -> bool:
        """Add the label of *target*, a path and query; a newer label replaces the older.

        Returns whether it makes rules due.
        """
        before = self._labels.pop(target, None)
        self.seen += before is None
        self._labels[target] = is_article
        self._articles += is_article - (before is True)
        if len(self._labels) > MAX_LABELS:
            is_dropped = 2 * self._articles > len(self._labels)
            del self._labels[next(target for target, one in self._labels.items() if one == is_dropped)]
            self._articles -= is_dropped
        if self.seen < self._due_at or min(self._articles, len(self._labels) - self._articles) < MIN_KIND:
            return False
        while self._due_at <= self.seen:
            self._due_at *= 2
        return True

    def rules(self, now: float) -> list[UrlRule]:
        """Return the rules of the labels, those with the most labels first; a function of their set.

        Notes
        -----
        Some 35 us for each label.
        """
        return [
            UrlRule(
                regex,
                weight=round(precision_low, 1),  # rounded, because few distinct weights make few groups to match
                origin=LEARNT,
                support=support,
                precision_low=precision_low,
                learnt_at=now,
            )
            for regex, support, precision_low in learn_patterns(self._labels)
            if is_expression(regex)  # with a thousand directories it may be too large
        ]
