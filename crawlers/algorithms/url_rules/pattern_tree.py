"""Learns patterns of URLs of one host: labelled URLs in, regular expressions out.

Each node of a tree asks the question that is most informative about the label; a question must be significant, so that
wrong labels do not grow branches. Patterns of a leaf are restricted to observed values (segments, extension,
parameters), so that only labelled kinds of URLs match. A leaf with mostly articles becomes one expression.
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

G_MIN = 12.0  # p < 0.0006 for one question; many are tested
BOUND_MIN = 0.5  # of a leaf's precision; with a fifth of the labels wrong, a pure leaf has only 0.8
Z = 1.28  # one-sided 90 %
PLACES = 6  # segments tested from the front; of later ones only the last
DEPTH_MAX = 12
TEXT_BITS = 4.0  # a literal text must be that much more informative than a kind
TEXTS_MAX = 8  # in one question
TEXT_LENGTH_MAX = 40  # longer ones are titles
TEXT_SEEN_MIN = 2
AGREED_MIN = 5  # URLs of a leaf that establish a common value
AGREED_SHARE = 0.9
LAST = -1
NUMBERS = FAMILIES["digits"][0] | {"date"}

GROUPS = {name: kinds for name, (kinds, _) in FAMILIES.items()} | {name: frozenset({name}) for name in (*KINDS, OTHER)}


class Learnt(NamedTuple):
    """An expression, the number of its labels, and the lower bound of the share of articles."""

    regex: str
    support: int
    precision_low: float


class Sample(NamedTuple):
    """A labelled URL."""

    tokens: UrlTokens
    is_article: bool


class Question(NamedTuple):
    """The question of a node: `about` is "kind" or "text" of a place, or a property of the whole URL."""

    about: str  # kind, text; segments, slash, extension, query, parameter
    place: int | str
    values: frozenset[Hashable]
    bits: float  # its length

    def holds(self, tokens: UrlTokens) -> bool:
        """Whether the answer is yes."""
        return not self.values.isdisjoint(_answers(tokens, self.about, self.place))


class Leaf(NamedTuple):
    """The path to a leaf, and its samples."""

    path: tuple[tuple[Question, bool], ...]
    samples: list[Sample]


def wilson_low(successes: int, count: int, z: float = Z) -> float:
    """Return the lower bound of a share, given *successes* out of *count* > 0.

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
    """Return the expressions of articles, given *labels*: path and query of URLs, each with whether it is an article.

    Expressions with the most labels come first. The order of *labels* does not matter.

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
    """Return the labelled URLs as tokens, in an order that depends only on them."""
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
    """Yield the patterns of the URLs of *leaf*, each with its URLs."""
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
                # These URLs do not have the place: the answer was no, and is not informative.
                if place in (shape.parameters or ()) or (isinstance(place, int) and 0 <= place < shape.segments):
                    pattern = pattern.narrowed(place, question.about, question.values, answer)
        yield from _agreed(pattern, samples)


def _agreed(pattern: UrlPattern, samples: list[Sample]) -> Iterator[tuple[UrlPattern, list[Sample]]]:
    """Yield the URLs of *pattern* whose place has the value of nine in ten of them; then the others."""
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
    """Return whether *text* may be in an expression: numbers would not match next year, long texts are titles."""
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
        # The test statistic G is twice the gain in nats.
        if 2 * math.log(2) * gain >= G_MIN and gain - question.bits > best_score + 1e-9:
            best, best_score = question, gain - question.bits
    return best


def _gain_bits(total: tuple[int, int], yes: tuple[int, int]) -> float:
    """Return the gain in bits of a question that splits *total* (others, articles) into *yes* and the rest."""
    no = (total[0] - yes[0], total[1] - yes[1])
    return _bits(total) - _bits(yes) - _bits(no)


def _bits(counts: tuple[int, int]) -> float:
    count = sum(counts)
    return -sum(one * math.log2(one / count) for one in counts if one)


def _questions(samples: list[Sample], total: tuple[int, int]) -> Iterator[tuple[Question, tuple[int, int]]]:
    """Yield useful questions, each with the numbers of others and of articles whose answer is yes."""
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
    """Yield the first one, two … of the texts that indicate articles most, and of those that indicate others most."""
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
