"""Rules that classify URLs as articles, and a learner of the rules of one domain from labelled URLs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crawlers.missions.news.urls.url_pattern import Counts, learn_patterns
from crawlers.missions.news.urls.url_tokens import target_of_url
from crawlers.urls.url_expressions import is_expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

MAX_LABELS = 2_000  # 0.3 MB; learning from them takes 0.3 to 0.8 s
MIN_KIND = 5  # labels of each kind: without other pages, every URL similar to the few articles would match
DUE_AT = (30, 100, 300, 1_000)  # labels; then at each doubling of their number
RETRY_AFTER = 10  # further labels

PRIOR_LABELS = 15.0  # labels that the prior of all URLs together counts as, and
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


class RuleLearner:
    """Collects the labels of one *domain*, and decides when rules should be learnt from them by `learn_rules`.

    *prior* returns the probability that a path and query is that of an article; it counts as `PRIOR_LABELS` further
    labels, so that wrong labels weigh less while there are few. The learner keeps `MAX_LABELS` labels, one per URL;
    beyond that, the oldest label of the more frequent kind (articles or others) is dropped.
    """

    def __init__(self, domain: str, prior: Callable[[str], float] | None = None) -> None:
        self.domain = domain
        self._prior = prior
        self._articles: dict[str, None] = {}  # the oldest first
        self._others: dict[str, None] = {}
        self._seen = 0  # URLs ever labelled
        self._due_at = DUE_AT[0]

    def label(self, url: str, is_article: bool) -> None:
        """Add the label of *url* of this domain; a newer label of a URL replaces the older."""
        target = target_of_url(url)
        known = target in self._articles or target in self._others
        self._articles.pop(target, None)
        self._others.pop(target, None)
        (self._articles if is_article else self._others)[target] = None
        self._seen += not known
        if len(self._articles) + len(self._others) > MAX_LABELS:
            larger = max(self._articles, self._others, key=len)
            del larger[next(iter(larger))]

    @property
    def is_due(self) -> bool:
        """Whether there are enough new labels to learn rules."""
        return self._seen >= self._due_at and min(len(self._articles), len(self._others)) >= MIN_KIND

    def has_learnt(self) -> None:
        """Mark the labels as learnt, so that rules are not due before there are more labels."""
        while self._due_at <= self._seen:
            self._due_at = next((count for count in DUE_AT if count > self._due_at), 2 * self._due_at)

    def retry_soon(self) -> None:
        """Let rules be due after `RETRY_AFTER` further labels: the latest task has failed."""
        self._due_at = min(self._due_at, self._seen + RETRY_AFTER)

    def task(self, known: Iterable[UrlRule] = ()) -> LearningTask:
        """Return what `learn_rules` needs; the labels count as learnt.

        The expressions of manual rules with weight 0 in *known* are omitted.
        """
        self.has_learnt()
        forbidden = frozenset(rule.regex for rule in known if rule.origin == HAND and rule.weight == 0)
        return LearningTask(tuple(self._articles), tuple(self._others), forbidden, self._prior)


class LearningTask(NamedTuple):
    """The labelled URLs of a domain."""

    articles: Sequence[str]
    others: Sequence[str]
    forbidden: frozenset[str]  # expressions
    prior: Callable[[str], float] | None


def learn_rules(task: LearningTask, now: float) -> list[UrlRule]:
    """Return the rules learnt from labels, those with the most labels first; none if there are too few labels.

    The result is a function of the set of labels.
    """
    if min(len(task.articles), len(task.others)) < MIN_KIND:
        return []
    return [
        UrlRule(
            regex,
            weight=round(precision_low, 1),  # rounded, because few distinct weights make few groups to match
            origin=LEARNT,
            support=support,
            precision_low=precision_low,
            learnt_at=now,
        )
        for regex, support, precision_low in learn_patterns(_counts(task))
        if regex not in task.forbidden and is_expression(regex)  # with a thousand directories it may be too large
    ]


def _counts(task: LearningTask) -> dict[str, Counts]:
    """Return what each URL counts for and against articles: its label, and its share of the prior."""
    share = min(MAX_PRIOR, PRIOR_LABELS / (len(task.articles) + len(task.others))) if task.prior else 0.0
    counts: dict[str, Counts] = {}
    for labels, is_article in ((task.articles, True), (task.others, False)):
        for target in labels:
            p = task.prior(target) if task.prior is not None else 0.0
            counts[target] = Counts((not is_article) + share * (1.0 - p), is_article + share * p)
    return counts
