"""A topic as a vector of terms, and the similarity of texts to it.

Before a page is read, its relevance is estimated from the text around links to it and from its distance; afterwards it
is computed from its own text.

References
----------
.. [1] Wang, Zhu, Li, Pan (2004), Design of a Multi-strategy Topic Specific Web Crawler (in Chinese).
.. [2] Menczer, Pant, Srinivasan, Ruiz (2001), Evaluating Topic-Driven Web Crawlers.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import astuple, dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TOPIC_TERMS = 50  # terms kept of example pages: the weaker ones are words that occur on any page


class Topic:
    """A topic: the weights of its `terms`, in descending order, as a vector of length 1.

    *terms* contains at least one, with weights > 0.

    >>> Topic({"encod": 3, "unicod": 4}).terms
    {'unicod': 0.8, 'encod': 0.6}
    """

    def __init__(self, terms: Mapping[str, float]) -> None:
        norm = _norm(terms)
        strongest = sorted(terms.items(), key=_by_weight)
        self.terms = {term: weight / norm for term, weight in strongest}

    def anchor_relevance(self, counts: Mapping[str, float]) -> float:
        """Return the cosine of the topic and a text with these *counts* of terms, in [0, 1]; 0 for an empty text.

        >>> Topic({"encod": 3, "unicod": 4}).anchor_relevance({"unicod": 2})
        0.8
        """
        return _cosine(self.terms, counts)

    def tf_idf_similarity(self, counts: Mapping[str, float], seen: DocumentFrequencies) -> float:
        """Return the cosine with each term of both vectors weighted by `DocumentFrequencies.idf`, in [0, 1].

        *seen* holds the document frequencies of the collection: frequent terms count less than rare ones.
        """
        return _cosine(
            {term: weight * seen.idf(term) for term, weight in self.terms.items()},
            {term: count * seen.idf(term) for term, count in counts.items()},
        )


class DocumentFrequencies:
    """The number of documents that contain each term."""

    def __init__(self, documents: Iterable[Iterable[str]] = ()) -> None:
        self.documents = 0
        self._frequencies: Counter[str] = Counter()
        for terms in documents:
            self.add(terms)

    def add(self, terms: Iterable[str]) -> None:
        """Add a document with these *terms*."""
        self.documents += 1
        self._frequencies.update(set(terms))

    def idf(self, term: str) -> float:
        """Return 1 + ln(|S|/n_k): |S| documents, n_k of them with *term*, or 1 if none has it.

        >>> DocumentFrequencies([["encod"], ["encod"]]).idf("encod")
        1.0
        """
        return 1.0 + math.log(max(self.documents, 1) / (self._frequencies[term] or 1))


def topic_of(keywords: Mapping[str, float], examples: Iterable[Mapping[str, float]]) -> Topic:
    """Return the topic defined by weighted *keywords* (terms) and by the term counts of *examples*, pages about it.

    The examples are averaged as vectors of length 1, and the `TOPIC_TERMS` strongest terms are kept. Both parts are
    normalised and added: keywords count as much as all examples together. Raises `ConfigError` if there are no terms.

    >>> topic_of({"unicod": 2}, [{"unicod": 5}, {"unicod": 1}]).terms
    {'unicod': 1.0}
    """
    sums: Counter[str] = Counter()
    for counts in examples:
        sums.update(_normalized(counts))
    profile = dict(nsmallest(TOPIC_TERMS, sums.items(), key=_by_weight))
    terms = Counter(_normalized(keywords))
    terms.update(_normalized(profile))
    if not terms:
        raise ConfigError("the topic has no terms; give keywords, or example pages with text")
    return Topic(terms)


def distance_relevance(level: int) -> float:
    """Return R_d = 1/d of a page *level* >= 0 clicks from the root pages, where d = *level* + 1."""
    return 1.0 / (level + 1)


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the parts of a score. Each is in [0, 1]; they sum to 1, and gamma or delta is 0.

    Raises `ConfigError` otherwise. With gamma, the scores of pages that wait fall while others are read; the URLs that
    are compared by what was learnt are chosen by scores that only rise.
    """

    alpha: float  # R_a, the text of links
    beta: float  # R_d, the distance
    gamma: float  # TR, TimelyRank
    delta: float = 0.0  # R_l, what was learnt of links, see `link_relevance.LinkRelevance`; 0: nothing is learnt

    def __post_init__(self) -> None:
        weights = astuple(self)
        shown = ", ".join(f"{name}={weight:.12g}" for name, weight in zip(self.__slots__, weights, strict=True))
        if not all(0.0 <= weight <= 1.0 for weight in weights):
            raise ConfigError(f"{shown}: each weight must be from 0 to 1; change them so that they sum to 1")
        if self.gamma and self.delta:
            raise ConfigError(f"{shown}: gamma and delta can't be combined; leave out either")
        total = math.fsum(weights)
        if abs(total - 1.0) > 1e-9:
            raise ConfigError(f"{shown} sum to {total:.12g}, expected 1; divide each by their sum")


#: The strategies by name; all but `learnt` are those of [1].
STRATEGIES = {
    "learnt": Weights(0.5, 0.0, 0.0, 0.5),
    "anchor": Weights(1.0, 0.0, 0.0),
    "breadth": Weights(0.0, 1.0, 0.0),
    "links": Weights(0.0, 0.0, 1.0),
    "mixed": Weights(0.4, 0.3, 0.3),
}
DEFAULT_STRATEGY = "learnt"  # it finds most pages about a topic on nearly every web that was measured


def _by_weight(entry: tuple[str, float]) -> tuple[float, str]:
    term, weight = entry
    return -weight, term


def _norm(vector: Mapping[str, float]) -> float:
    return math.hypot(*vector.values())


def _normalized(vector: Mapping[str, float]) -> dict[str, float]:
    norm = _norm(vector)
    return {term: weight / norm for term, weight in vector.items()}


def _cosine(topic: Mapping[str, float], text: Mapping[str, float]) -> float:
    shared = math.fsum(topic[term] * count for term, count in text.items() if term in topic)
    return min(1.0, shared / (_norm(topic) * _norm(text))) if shared else 0.0
