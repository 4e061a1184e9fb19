"""Learns what URLs of one host have in common: labelled URLs in, regular expressions out.

A tree asks one question a node, that which tells most about the label; a question has to be significant, so that wrong
labels don't grow branches. What URLs of a leaf were seen to look like (segments, extension, parameters) closes it: what
no label has shown is not matched. A leaf that is mostly articles becomes one expression.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from crawlers.algorithms.url_rules.url_pattern import UrlPattern, merged, regex_of
from crawlers.algorithms.url_rules.url_tokens import FAMILIES, KINDS, OTHER, kind_of, tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from crawlers.algorithms.url_rules.url_tokens import Token, UrlTokens

G_MIN = 12.0  # p < 0.0006 for one question; many are asked
BOUND_MIN = 0.5  # of a leaf's precision; with a fifth of the labels wrong, a leaf of articles only has 0.8
Z = 1.28  # one-sided 90 %
PLACES = 6  # segments asked for from the front; later ones by the last only
DEPTH_MAX = 12
TEXT_BITS = 4.0  # a text that is spelt out has to tell so much more than a kind
TEXTS_MAX = 8  # in one question
TEXT_LENGTH_MAX = 40  # longer ones are titles
TEXT_SEEN_MIN = 2
AGREED_MIN = 5  # URLs of a leaf that make a habit
AGREED_SHARE = 0.9
LAST = -1
NUMBERS = FAMILIES["digits"][0] | {"date"}

GROUPS = {name: kinds for name, (kinds, _) in FAMILIES.items()} | {name: frozenset({name}) for name in (*KINDS, OTHER)}


class Learnt(NamedTuple):
    """An expression, how many labels it was learnt from, and the lower bound of the share of articles."""

    regex: str
    support: int
    precision_low: float


class Sample(NamedTuple):
    """A labelled URL."""

    tokens: UrlTokens
    is_article: bool


class Question(NamedTuple):
    """What a node asks: `about` is "kind" or "text" of a place, or something of the URL as a whole."""

    about: str  # kind, text; segments, slash, extension, query, parameter
    place: int | str
    values: frozenset[Hashable]
    bits: float  # its length

    def holds(self, tokens: UrlTokens) -> bool:
        """Whether the answer is yes."""
        return not self.values.isdisjoint(_answers(tokens, self.about, self.place))


class Leaf(NamedTuple):
    """The way to a leaf, and what came there."""

    path: tuple[tuple[Question, bool], ...]
    samples: list[Sample]


def wilson_low(successes: int, count: int, z: float = Z) -> float:
    """Return the lower bound of a share of which *successes* of *count* > 0 were seen.

    >>> round(wilson_low(10, 10), 3)
    0.859

    References
    ----------
    .. [1] Wilson (1927), Probable Inference, the Law of Succession, and Statistical Inference.
    """
    share, square = successes / count, z * z / count
    middle = share + square / 2
    return (middle - z * math.sqrt(share * (1 - share) / count + square / (4 * count))) / (1 + square)


def learn_patterns(labels: Mapping[str, bool]) -> list[Learnt]:
    """Return the expressions of articles among *labels*: path and query of URLs, each with whether it is an article.

    Those with the most labels come first. The order of *labels* doesn't matter.

    References
    ----------
    .. [1] Lei, Cai, Yang, Ke, Fan, Zhang (2010), A Pattern Tree-based Approach to Learning URL Normalization Rules.
    .. [2] Koppula et al. (2010), Learning URL Patterns for Webpage De-duplication.
    .. [3] Sokal, Rohlf (1981), Biometry, sect. 17.2 (the G-test).
    """
    found: list[tuple[UrlPattern, int, int]] = []
    for leaf in leaves(samples_of(labels)):
        for pattern, samples in closed(leaf):
            articles = sum(sample.is_article for sample in samples)
            if wilson_low(articles, len(samples)) >= BOUND_MIN:
                found.append((pattern, articles, len(samples)))
    rules = [
        Learnt(regex_of(pattern), count, wilson_low(articles, count)) for pattern, articles, count in merged(found)
    ]
    return sorted(rules, key=lambda rule: (-rule.support, rule.regex))


def samples_of(labels: Mapping[str, bool]) -> list[Sample]:
    """Return the labelled URLs in pieces, in an order that is a function of them."""
    found = ((tokens_of(target), is_article) for target, is_article in sorted(labels.items()))
    return [Sample(tokens, is_article) for tokens, is_article in found if tokens]


def leaves(samples: list[Sample]) -> Iterator[Leaf]:
    """Grow a tree on *samples* and yield its leaves."""
    open_leaves = [Leaf((), samples)]
    while open_leaves:
        leaf = open_leaves.pop()
        question = _best_question(leaf.samples) if len(leaf.path) < DEPTH_MAX else None
        if question is None:
            yield leaf
            continue
        for answer in (False, True):
            part = [sample for sample in leaf.samples if question.holds(sample.tokens) is answer]
            open_leaves.append(Leaf((*leaf.path, (question, answer)), part))


def closed(leaf: Leaf) -> Iterator[tuple[UrlPattern, list[Sample]]]:
    """Yield what the URLs of *leaf* look like, each look with its URLs."""
    shapes = defaultdict(list)
    for sample in leaf.samples:
        shapes[sample.tokens.shape].append(sample)
    for shape, samples in shapes.items():
        pattern = UrlPattern(shape)
        for question, answer in leaf.path:
            place = question.place
            if question.about == "slash":
                pattern = replace(pattern, slash=answer is (True in question.values))
            elif question.about in ("kind", "text"):
                place = shape.segments - 1 if place == LAST else place
                # A place that these URLs don't have: the answer was no, and tells nothing.
                if place in (shape.parameters or ()) or (isinstance(place, int) and 0 <= place < shape.segments):
                    pattern = pattern.narrowed(place, question.about, question.values, answer)
        yield from _agreed(pattern, samples)


def _agreed(pattern: UrlPattern, samples: list[Sample]) -> Iterator[tuple[UrlPattern, list[Sample]]]:
    """Yield the URLs of *pattern* that have in a place what nine in ten of them have there; and the others."""
    places: list[int | str] = [*range(pattern.shape.segments), *sorted(set(pattern.shape.parameters or ()))]
    for place in places:
        for question in _agreements(samples, place):
            part = [sample for sample in samples if question.holds(sample.tokens)]
            if len(part) < max(AGREED_MIN, AGREED_SHARE * len(samples)):
                continue
            if len(part) < len(samples):
                yield (
                    pattern.narrowed(place, question.about, question.values, False),
                    [sample for sample in samples if not question.holds(sample.tokens)],
                )
            pattern, samples = pattern.narrowed(place, question.about, question.values, True), part
            break
    yield pattern, samples


def _agreements(samples: list[Sample], place: int | str) -> Iterator[Question]:
    tokens = [token for token in (_token(sample.tokens, place) for sample in samples) if token]
    texts = Counter(token.text for token in tokens if _is_spelt_out(token.text))
    for text, _ in sorted(texts.items(), key=lambda one: (-one[1], one[0]))[:1]:
        yield Question("text", place, frozenset({text}), 0.0)
    for family in ("digits", "dashed"):
        yield Question("kind", place, GROUPS[family], 0.0)


def _answers(tokens: UrlTokens, about: str, place: int | str) -> tuple[Hashable, ...]:
    if about == "segments":
        return (tokens.shape.segments,)
    if about == "slash":
        return (tokens.has_slash,)
    if about == "extension":
        return (tokens.shape.extension,)
    if about == "query":
        return (tokens.shape.parameters is not None,)
    if about == "parameter":
        return tokens.shape.parameters or ()
    token = _token(tokens, place)
    return () if token is None else (token.kind if about == "kind" else token.text,)


def _is_spelt_out(text: str) -> bool:
    """Whether *text* may stand in an expression: numbers would not hold next year, long ones are titles."""
    return 0 < len(text) <= TEXT_LENGTH_MAX and kind_of(text) not in NUMBERS


def _token(tokens: UrlTokens, place: int | str) -> Token | None:
    if isinstance(place, str):
        return tokens.values.get(place)
    if place == LAST:
        return tokens.segments[-1] if tokens.segments else None
    return tokens.segments[place] if place < len(tokens.segments) else None


def _best_question(samples: list[Sample]) -> Question | None:
    total = (sum(not sample.is_article for sample in samples), sum(sample.is_article for sample in samples))
    if 0 in total:
        return None
    best, best_score = None, 0.0
    for question, counts in _questions(samples, total):
        gain = _gain_bits(total, counts)
        # The G of the test is twice the gain in nats.
        if 2 * math.log(2) * gain >= G_MIN and gain - question.bits > best_score + 1e-9:
            best, best_score = question, gain - question.bits
    return best


def _gain_bits(total: tuple[int, int], yes: tuple[int, int]) -> float:
    """How many bits the labels lose when a question divides *total* (others, articles) into *yes* and the rest."""
    no = (total[0] - yes[0], total[1] - yes[1])
    return _bits(total) - _bits(yes) - _bits(no)


def _bits(counts: tuple[int, int]) -> float:
    count = sum(counts)
    return -sum(one * math.log2(one / count) for one in counts if one)


def _questions(samples: list[Sample], total: tuple[int, int]) -> Iterator[tuple[Question, tuple[int, int]]]:
    """Questions worth asking, each with how many others and articles say yes."""
    keys = sorted({key for sample in samples for key in sample.tokens.values})
    places: list[int | str] = [*range(PLACES), LAST, *keys]
    for place in places:
        kinds = _counted(samples, "kind", place)
        for group in GROUPS.values():
            if not group.isdisjoint(kinds):
                yield Question("kind", place, group, 1.0), _summed(kinds, group)
    for about in ("segments", "slash", "extension", "query", "parameter"):
        counted = _counted(samples, about, 0)
        for value in sorted(counted, key=str):
            yield Question(about, 0, frozenset({value}), 1.0), counted[value]
    for place in places:
        texts = _counted(samples, "text", place)
        for values in _text_sets(texts, total):
            yield Question("text", place, values, TEXT_BITS * len(values)), _summed(texts, values)


def _counted(samples: list[Sample], about: str, place: int | str) -> dict[Hashable, tuple[int, int]]:
    articles: Counter[Hashable] = Counter()
    others: Counter[Hashable] = Counter()
    for sample in samples:
        (articles if sample.is_article else others).update(set(_answers(sample.tokens, about, place)))
    return {value: (others[value], articles[value]) for value in others.keys() | articles.keys()}


def _summed(counted: Mapping[Hashable, tuple[int, int]], values: Iterable[Hashable]) -> tuple[int, int]:
    chosen = [counted[value] for value in values if value in counted]
    return sum(one[0] for one in chosen), sum(one[1] for one in chosen)


def _text_sets(texts: Mapping[Hashable, tuple[int, int]], total: tuple[int, int]) -> Iterator[frozenset[Hashable]]:
    """The texts that speak most for articles, the first one, two … of them; and those that speak most against."""
    share = total[1] / sum(total)
    signs: tuple[Callable[[float], bool], ...] = (lambda rate: rate > share, lambda rate: rate < share)
    for is_meant in signs:
        chosen = [
            (_gain_bits(total, counts), str(text))
            for text, counts in texts.items()
            if sum(counts) >= TEXT_SEEN_MIN and _is_spelt_out(str(text)) and is_meant(counts[1] / sum(counts))
        ]
        ranked = [text for _, text in sorted(chosen, key=lambda one: (-one[0], one[1]))[:TEXTS_MAX]]
        for size in range(1, len(ranked) + 1):
            yield frozenset(ranked[:size])
