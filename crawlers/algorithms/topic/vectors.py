"""A topic as a vector of terms, and how near to it texts are.

What is known of a page before it is read is the text around links to it, and its distance; afterwards its own text.

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

TOPIC_TERMS = 50  # kept of example pages: beyond them come words that the pages share with any other page


class Topic:
    """A topic: `terms`, the strongest first, each with its weight; the vector has length 1.

    *terms* has at least one, with weights > 0.

    >>> Topic({"encod": 3, "unicod": 4}).terms
    {'unicod': 0.8, 'encod': 0.6}
    """

    def __init__(self, terms: Mapping[str, float]) -> None:
        norm = _norm(terms)
        strongest = sorted(terms.items(), key=_by_weight)
        self.terms = {term: weight / norm for term, weight in strongest}

    def anchor_relevance(self, counts: Mapping[str, float]) -> float:
        """Return the cosine of the topic and a text with these *counts* of terms, in [0, 1]; 0 of an empty text.

        >>> Topic({"encod": 3, "unicod": 4}).anchor_relevance({"unicod": 2})
        0.8
        """
        return _cosine(self.terms, counts)

    def tf_idf_similarity(self, counts: Mapping[str, float], seen: DocumentFrequencies) -> float:
        """Return the cosine with every count multiplied by 1 + ln(|S|/n_k), S being the documents *seen*.

        So terms that are everywhere count less than rare ones, on both sides.
        """
        return _cosine(
            {term: weight * seen.idf(term) for term, weight in self.terms.items()},
            {term: count * seen.idf(term) for term, count in counts.items()},
        )


class DocumentFrequencies:
    """In how many of the documents so far each term occurs."""

    def __init__(self, documents: Iterable[Iterable[str]] = ()) -> None:
        self.documents = 0
        self._frequencies: Counter[str] = Counter()
        for terms in documents:
            self.add(terms)

    def add(self, terms: Iterable[str]) -> None:
        """Count one more document, which has *terms*."""
        self.documents += 1
        self._frequencies.update(set(terms))

    def idf(self, term: str) -> float:
        """Return 1 + ln(|S|/n_k); of a term that no document has, as if one had it.

        >>> DocumentFrequencies([["encod"], ["encod"]]).idf("encod")
        1.0
        """
        return 1.0 + math.log(max(self.documents, 1) / (self._frequencies[term] or 1))


def topic_of(keywords: Mapping[str, float], examples: Iterable[Mapping[str, float]]) -> Topic:
    """Return the topic of weighted *keywords* (terms) and of the counts of terms of *examples*, pages about it.

    The examples' part is the mean of their vectors, each of length 1, of which the `TOPIC_TERMS` strongest terms are
    kept. Both parts are given length 1 and added: keywords have as much say as examples, however many.
    Raises `ConfigError` if there are no terms at all.

    >>> topic_of({"unicod": 2}, [{"unicod": 5}, {"unicod": 1}]).terms
    {'unicod': 1.0}
    """
    sums: Counter[str] = Counter()
    for counts in examples:
        sums.update(_of_length_one(counts))
    profile = dict(nsmallest(TOPIC_TERMS, sums.items(), key=_by_weight))
    terms = Counter(_of_length_one(keywords))
    terms.update(_of_length_one(profile))
    if not terms:
        raise ConfigError("the topic has no terms: give keywords, or examples that have text")
    return Topic(terms)


def distance_relevance(level: int) -> float:
    """Return 1/d of a page *level* clicks from the root pages, which have level 0 and d = 1."""
    return 1.0 / (level + 1)


@dataclass(frozen=True, slots=True)
class Weights:
    """What the three parts of a score count for: links' text, distance, link rank. Each is in [0, 1], their sum 1.

    Raises `ConfigError`.
    """

    alpha: float
    beta: float
    gamma: float

    def __post_init__(self) -> None:
        weights = astuple(self)
        shown = f"alpha={self.alpha:.12g}, beta={self.beta:.12g}, gamma={self.gamma:.12g}"
        if not all(0.0 <= weight <= 1.0 for weight in weights):
            raise ConfigError(f"{shown}: each of the three must be from 0 to 1; change them so that they sum to 1")
        total = math.fsum(weights)
        if abs(total - 1.0) > 1e-9:
            raise ConfigError(f"{shown} sum to {total:.12g}, expected 1; divide each by their sum")


#: The strategies of [1] by their names.
STRATEGIES = {
    "anchor": Weights(1.0, 0.0, 0.0),
    "breadth": Weights(0.0, 1.0, 0.0),
    "links": Weights(0.0, 0.0, 1.0),
    "mixed": Weights(0.4, 0.3, 0.3),
}


def _by_weight(one: tuple[str, float]) -> tuple[float, str]:
    term, weight = one
    return -weight, term


def _norm(vector: Mapping[str, float]) -> float:
    return math.hypot(*vector.values())


def _of_length_one(vector: Mapping[str, float]) -> dict[str, float]:
    norm = _norm(vector)
    return {term: weight / norm for term, weight in vector.items()}


def _cosine(topic: Mapping[str, float], text: Mapping[str, float]) -> float:
    shared = math.fsum(topic[term] * count for term, count in text.items() if term in topic)
    return min(1.0, shared / (_norm(topic) * _norm(text))) if shared else 0.0
