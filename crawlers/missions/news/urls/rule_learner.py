"""Rules that classify URLs as articles, and a learner of the rules of one domain from labelled URLs."""

from __future__ import annotations

from dataclasses import dataclass

from crawlers.missions.news.urls.url_pattern import Counts, learn_patterns
from crawlers.urls.url_expressions import is_expression

MAX_LABELS = 1_000  # 0.15 MB; learning from them takes some 35 ms
MIN_KIND = 5  # labels of each kind: without other pages, every URL similar to the few articles would match
FIRST_AT = 30  # labels; then at each doubling of their number
MAX_RULES = 1_000  # manual rules per domain; a learner creates fewer
PRIOR_LABELS = 20.0  # labels that the prior of all URLs together counts as, and
MAX_PRIOR = 1.0  # as many as the URL's own label at most: it decides while labels are few, and soon no more

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
        # By path and query, the oldest first: the prior, 0 to 1, that it is an article.
        self._articles: dict[str, float] = {}
        self._others: dict[str, float] = {}
        self.seen = 0  # URLs ever labelled
        self._due_at = FIRST_AT

    def label(self, target: str, is_article: bool, prior: float = 0.5) -> bool:
        """Add the label of *target*, a path and query; a newer label replaces the older.

        Returns whether it makes rules due. *prior* is the probability that it is an article by what all sites teach.
        """
        known = target in self._articles or target in self._others
        self._articles.pop(target, None)
        self._others.pop(target, None)
        (self._articles if is_article else self._others)[target] = prior
        self.seen += not known
        if len(self._articles) + len(self._others) > MAX_LABELS:
            larger = max(self._articles, self._others, key=len)
            del larger[next(iter(larger))]
        if self.seen < self._due_at or min(len(self._articles), len(self._others)) < MIN_KIND:
            return False
        while self._due_at <= self.seen:
            self._due_at *= 2
        return True

    def rules(self, now: float) -> list[UrlRule]:
        """Return the rules of the labels, those with the most labels first; a function of their set.

        Notes
        -----
        Some 35 us for each label. The prior of all labels together counts as `PRIOR_LABELS` further labels, that of one
        as `MAX_PRIOR` at most, so that wrong labels weigh less while there are few.
        """
        share = min(MAX_PRIOR, PRIOR_LABELS / max(1, len(self._articles) + len(self._others)))
        counts = {
            target: Counts((not is_article) + share * (1.0 - prior), is_article + share * prior)
            for labels, is_article in ((self._articles, True), (self._others, False))
            for target, prior in labels.items()
        }
        return [
            UrlRule(
                regex,
                weight=round(precision_low, 1),  # rounded, because few distinct weights make few groups to match
                origin=LEARNT,
                support=support,
                precision_low=precision_low,
                learnt_at=now,
            )
            for regex, support, precision_low in learn_patterns(counts)
            if is_expression(regex)  # with a thousand directories it may be too large
        ]
