"""Learns patterns of the URLs of one host: labelled URLs in, regular expressions out.

Each node of a decision tree asks the question with the highest information gain. A question must be significant, so
that wrong labels do not grow branches. The patterns of a leaf are restricted to the shapes of its URLs (segments,
extension, parameters), so that only labelled kinds of URLs match. A leaf with mostly articles becomes expressions.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from crawlers.missions.news.urls.url_tokens import (
    FAMILIES,
    IDENTIFIED,
    IDSLUG_ONLY,
    KINDS,
    MATCHED_TOO,
    NUMBER,
    NUMBERED,
    OTHER,
    UUID,
    kind_of,
    tokens_of,
)
from crawlers.urls.url_expressions import EXCEPT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from crawlers.missions.news.urls.url_tokens import Shape, Token, UrlTokens

_ALL = frozenset({*KINDS, OTHER})
_OF_PATH = _ALL - {"empty"}
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")
_NONE: frozenset[str] = frozenset()


class Counts(NamedTuple):
    """What a URL, or several together, count for other pages and for articles; a certain label counts 1."""

    others: float
    articles: float


class _Expression(NamedTuple):
    """An expression that matches all texts of some kinds, and some texts of others."""

    kinds: frozenset[str]
    matched_too: frozenset[str]  # kinds of which it matches some texts
    regex: str


_EXPRESSIONS = (  # the first suitable one is used
    *(_Expression(kinds, MATCHED_TOO.get(name, _NONE), regex) for name, (kinds, regex) in FAMILIES.items()),
    *(_Expression(frozenset({name}), MATCHED_TOO.get(name, _NONE), regex) for name, regex in KINDS.items()),
    _Expression(frozenset({"idslug"}), _NONE, IDSLUG_ONLY),
)


class Condition(NamedTuple):
    """The allowed values of a position: texts of some kinds, and of these either only `texts`, or all but `texts`."""

    kinds: frozenset[Hashable] = _ALL
    texts: frozenset[Hashable] = frozenset()
    is_only: bool = False  # only `texts`

    def narrowed(self, about: str, values: frozenset[Hashable], answer: bool) -> Condition:
        """Return the condition restricted to a kind or text (*about*) in *values*, or not in *values* (*answer* no)."""
        if about == "kind":
            kinds = self.kinds & values if answer else self.kinds - values
            return self._replace(kinds=kinds)._tidy()
        if not answer:
            return self._replace(texts=self.texts - values if self.is_only else self.texts | values)
        texts = self.texts & values if self.is_only else values - self.texts
        return Condition(self.kinds, texts, is_only=True)._tidy()

    def _tidy(self) -> Condition:
        """Return the condition without redundant parts: a list of texts implies their kinds."""
        if not self.is_only:
            return self
        return Condition(texts=frozenset(t for t in self.texts if kind_of(str(t)) in self.kinds), is_only=True)


UNBOUND = Condition()


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """URLs of a shape, with or without a trailing slash (None: both), whose positions meet conditions."""

    shape: Shape
    slash: bool | None = None
    positions: Mapping[int | str, Condition] = field(default_factory=dict)

    def narrowed(self, position: int | str, about: str, values: frozenset[Hashable], answer: bool) -> UrlPattern:
        """Return the pattern with an additional condition on *position*; for the others see `Condition.narrowed`."""
        condition = self.positions.get(position, UNBOUND).narrowed(about, values, answer)
        return replace(self, positions={**self.positions, position: condition})


def regex_of(pattern: UrlPattern) -> str:
    """Return the expression that matches exactly the URLs of *pattern*, as path and query."""
    wanted, unwanted = {}, {}
    for position in sorted(pattern.positions, key=str):
        possible, other = _possible(pattern.shape, position), _other(pattern.shape, position)
        wanted[position], unwanted[position] = _position_expressions(pattern.positions[position], possible, other)
    exceptions = (_url(pattern, {position: regex}) for position, regex in unwanted.items() if regex is not None)
    return EXCEPT.join([_url(pattern, wanted), *exceptions])


def escaped(text: str) -> str:
    r"""Return the expression of *text*, that of a token, with fewer escapes than `re.escape`, for readability.

    >>> escaped("middle-east.html"), escaped("article#")
    ('middle-east\\.html', 'article[0-9]{4,}')
    """
    return _SPECIAL.sub(r"\\\g<0>", text).replace(IDENTIFIED, UUID).replace(NUMBERED, NUMBER)


def _possible(shape: Shape, position: int | str) -> _Expression:
    """Return the expression of all possible texts at *position* of *shape*."""
    if isinstance(position, str):
        return _Expression(_ALL, _NONE, "[^&]*" if position else "[^&=]*")
    return _Expression(_OF_PATH, _NONE, "[^/?]+" if position < shape.segments - 1 or shape.extension else "[^/?.]+")


def _other(shape: Shape, position: int | str) -> _Expression:
    """Return the expression of texts at *position* of *shape* that have none of `KINDS`."""
    if isinstance(position, str):
        regex = "[^&]*[./?=][^&]*" if position else "[^&=]*[./?][^&=]*"
    elif position < shape.segments - 1 or shape.extension:
        regex = "[^/?]*[.&=][^/?]*"
    else:
        regex = "[^/?.]*[&=][^/?.]*"
    return _Expression(frozenset({OTHER}), _NONE, regex)


def _url(pattern: UrlPattern, positions: Mapping[int | str, str]) -> str:
    """Return the expression of URLs with the shape of *pattern*, given those of *positions*; others are arbitrary."""
    shape = pattern.shape
    segments = [positions.get(position) or _possible(shape, position).regex for position in range(shape.segments)]
    slash = "" if not segments or pattern.slash is False else "/" if pattern.slash else "/?"
    path = f"/{'/'.join(segments)}{escaped(shape.extension)}{slash}"
    if shape.parameters is None:
        return path
    left = dict(positions)  # of parameters with the same name, the first one counts
    values = [escaped(name) + left.pop(name, _possible(shape, name).regex) for name in shape.parameters]
    return f"{path}\\?{'&'.join(values)}"


def _position_expressions(condition: Condition, possible: _Expression, other: _Expression) -> tuple[str, str | None]:
    """Return the expression of a position that meets *condition*, and that of its exceptions, if any."""
    if condition.is_only:
        return _one_of(escaped(str(text)) for text in sorted(map(str, condition.texts))), None
    texts = [escaped(text) for text in sorted(map(str, condition.texts)) if kind_of(text) in condition.kinds]
    kinds = possible.kinds & condition.kinds
    candidates = []
    for chosen in ([possible], _cover(kinds, other, _NONE) or []):
        matched = frozenset().union(*(expression.kinds | expression.matched_too for expression in chosen))
        exceptions = _cover(matched - kinds, other, spared=kinds)
        if exceptions is not None:
            unwanted = [*texts, *(expression.regex for expression in exceptions)]
            wanted = [expression.regex for expression in chosen]
            candidates.append((_one_of(wanted), _one_of(unwanted) if unwanted else None))
    return min(candidates, key=lambda pair: len(pair[0]) + len(pair[1] or ""))


def _cover(kinds: frozenset[str], other: _Expression, spared: frozenset[str]) -> list[_Expression] | None:
    """Return few expressions that together match *kinds*, but none of *spared*; None if that is impossible."""
    left = set(kinds)
    found = []
    for expression in (*_EXPRESSIONS, other):
        if expression.kinds <= kinds and expression.kinds & left and not expression.matched_too & spared:
            found.append(expression)
            left -= expression.kinds
    return None if left else found


def _one_of(regexes: Iterable[str]) -> str:
    parts = list(regexes)
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


MIN_G = 9.0  # test statistic: p < 0.003 for one question, because many are tested
MIN_BOUND = 0.5  # lower bound of a leaf's precision; with a fifth of the labels wrong, a pure leaf only has 0.8
Z = 1.28  # one-sided 90 %
POSITIONS = 6  # segments tested from the front; of the others, only the last one is tested
MAX_DEPTH = 12
TEXT_BITS = 4.0  # description length of a literal text, against 1 bit of a kind
MAX_TEXTS = 8  # in one question
MAX_TEXT_LENGTH = 40  # longer ones are titles
MIN_TEXT_SEEN = 2  # URLs with a text
MIN_AGREED = 5  # URLs of a leaf that must agree on a common value
AGREED_SHARE = 0.9  # of the URLs of a leaf that must agree
LAST = -1
NUMBERS = FAMILIES["digits"][0] | {"date"}

GROUPS = {name: kinds for name, (kinds, _) in FAMILIES.items()} | {name: frozenset({name}) for name in (*KINDS, OTHER)}


class RuleCandidate(NamedTuple):
    """An expression, the number of its labels, and the lower bound of the share of articles among them."""

    regex: str
    support: int
    precision_low: float


OTHER_PAGE, ARTICLE = Counts(1.0, 0.0), Counts(0.0, 1.0)


class Sample(NamedTuple):
    """A labelled URL."""

    tokens: UrlTokens
    counts: Counts


class Question(NamedTuple):
    """The question of a node: whether a property of a URL has one of some values."""

    about: str  # kind or text of a position; or segments, slash, extension, query, parameter of the whole URL
    position: int | str  # index of a segment, or name of a parameter
    values: frozenset[Hashable]
    bits: float  # description length

    def holds(self, tokens: UrlTokens) -> bool:
        """Return whether the answer is yes for the URL with these *tokens*."""
        return not self.values.isdisjoint(_values(tokens, self.about, self.position))


class Leaf(NamedTuple):
    """The path to a leaf, questions with their answers, and its samples."""

    path: tuple[tuple[Question, bool], ...]
    samples: list[Sample]


def wilson_low(successes: float, count: float) -> float:
    """Return the lower bound of a probability, given *successes* out of *count* > 0 trials (Wilson score interval).

    >>> round(wilson_low(10, 10), 3)
    0.859

    References
    ----------
    .. [1] Wilson (1927), Probable Inference, the Law of Succession, and Statistical Inference.
    """
    share, square = min(1.0, successes / count), Z * Z / count
    middle = share + square / 2
    return (middle - Z * math.sqrt(share * (1 - share) / count + square / (4 * count))) / (1 + square)


def learn_patterns(labels: Mapping[str, Counts]) -> list[RuleCandidate]:
    """Return the expressions of articles, those with the most labels first.

    *labels* are by URL (path and query); their order does not matter.

    References
    ----------
    .. [1] Lei, Cai, Yang, Ke, Fan, Zhang (2010), A Pattern Tree-based Approach to Learning URL Normalization Rules.
    .. [2] Koppula et al. (2010), Learning URL Patterns for Webpage De-duplication.
    .. [3] Sokal, Rohlf (1981), Biometry, sect. 17.2 (the G-test).
    """
    found: list[tuple[UrlPattern, Counts, int]] = []
    for leaf in leaves(samples_of(labels)):
        for pattern, samples in closed(leaf):
            counts = total_of(samples)
            if wilson_low(counts.articles, sum(counts)) >= MIN_BOUND:
                found.append((pattern, counts, len(samples)))
    rules = [
        RuleCandidate(regex_of(pattern), count, wilson_low(counts.articles, sum(counts)))
        for pattern, counts, count in found
    ]
    return sorted(rules, key=lambda rule: (-rule.support, rule.regex))


def samples_of(labels: Mapping[str, Counts]) -> list[Sample]:
    """Return the labelled URLs as tokens, in an order that does not depend on that of *labels*."""
    found = ((tokens_of(target), counts) for target, counts in sorted(labels.items()))
    return [Sample(tokens, counts) for tokens, counts in found if tokens]


def total_of(samples: Iterable[Sample]) -> Counts:
    """Return the sum of what *samples* count."""
    others = articles = 0.0
    for sample in samples:
        others += sample.counts.others
        articles += sample.counts.articles
    return Counts(others, articles)


def leaves(samples: list[Sample]) -> Iterator[Leaf]:
    """Grow a tree on *samples* and yield its leaves."""
    open_leaves = [Leaf((), samples)]
    while open_leaves:
        leaf = open_leaves.pop()
        question = _best_question(leaf.samples) if len(leaf.path) < MAX_DEPTH else None
        if question is None:
            yield leaf
            continue
        for answer in (False, True):
            part = [sample for sample in leaf.samples if question.holds(sample.tokens) is answer]
            open_leaves.append(Leaf((*leaf.path, (question, answer)), part))


def closed(leaf: Leaf) -> Iterator[tuple[UrlPattern, list[Sample]]]:
    """Yield the patterns of *leaf*, each with its samples: one or more for each shape of URLs."""
    shapes = defaultdict(list)
    for sample in leaf.samples:
        shapes[sample.tokens.shape].append(sample)
    for shape, samples in shapes.items():
        pattern = UrlPattern(shape)
        for question, answer in leaf.path:
            position = question.position
            if question.about == "slash":
                pattern = replace(pattern, slash=answer is (True in question.values))
            elif question.about in ("kind", "text"):
                position = shape.segments - 1 if position == LAST else position
                # Without that position in the URLs, the answer was no, and restricts nothing.
                is_segment = isinstance(position, int) and 0 <= position < shape.segments
                if is_segment or position in (shape.parameters or ()):
                    pattern = pattern.narrowed(position, question.about, question.values, answer)
        yield from _agreed(pattern, samples)


def _agreed(pattern: UrlPattern, samples: list[Sample]) -> Iterator[tuple[UrlPattern, list[Sample]]]:
    """Restrict *pattern* to values on which nine in ten of its *samples* agree; yield the others as other patterns."""
    positions: list[int | str] = [*range(pattern.shape.segments), *sorted(set(pattern.shape.parameters or ()))]
    for position in positions:
        for question in _agreements(samples, position):
            part = [sample for sample in samples if question.holds(sample.tokens)]
            if len(part) < max(MIN_AGREED, AGREED_SHARE * len(samples)):
                continue
            if len(part) < len(samples):
                yield (
                    pattern.narrowed(position, question.about, question.values, False),
                    [sample for sample in samples if not question.holds(sample.tokens)],
                )
            pattern, samples = pattern.narrowed(position, question.about, question.values, True), part
            break
    yield pattern, samples


def _agreements(samples: list[Sample], position: int | str) -> Iterator[Question]:
    tokens = [token for token in (_token(sample.tokens, position) for sample in samples) if token]
    texts = Counter(token.text for token in tokens if _is_literal(token.text))
    for text, _ in sorted(texts.items(), key=lambda one: (-one[1], one[0]))[:1]:
        yield Question("text", position, frozenset({text}), 0.0)
    for family in ("digits", "dashed"):
        yield Question("kind", position, GROUPS[family], 0.0)


def _values(tokens: UrlTokens, about: str, position: int | str) -> tuple[Hashable, ...]:
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
    token = _token(tokens, position)
    return () if token is None else (token.kind if about == "kind" else token.text,)


def _is_literal(text: str) -> bool:
    """Return whether *text* may be a literal: numbers would not match next year, and long texts are titles."""
    return 0 < len(text) <= MAX_TEXT_LENGTH and kind_of(text) not in NUMBERS


def _token(tokens: UrlTokens, position: int | str) -> Token | None:
    if isinstance(position, str):
        return tokens.values.get(position)
    if position == LAST:
        return tokens.segments[-1] if tokens.segments else None
    return tokens.segments[position] if position < len(tokens.segments) else None


def _best_question(samples: list[Sample]) -> Question | None:
    total = total_of(samples)
    if 0.0 in total:
        return None
    best, best_score = None, 0.0
    for question, counts in _questions(samples, total):
        gain = _gain_bits(total, counts)
        # The statistic G of the test is twice the gain in nats.
        if 2 * math.log(2) * gain >= MIN_G and gain - question.bits > best_score + 1e-9:
            best, best_score = question, gain - question.bits
    return best


def _gain_bits(total: Counts, yes: Counts) -> float:
    """Return the gain in bits of a question that splits *total* (others, articles) into *yes* and the rest."""
    no = Counts(max(0.0, total.others - yes.others), max(0.0, total.articles - yes.articles))
    return _bits(total) - _bits(yes) - _bits(no)


def _bits(counts: Counts) -> float:
    count = sum(counts)
    return -sum(one * math.log2(one / count) for one in counts if one > 0.0)


def _questions(samples: list[Sample], total: Counts) -> Iterator[tuple[Question, Counts]]:
    """Yield all questions worth testing, with the numbers of others and of articles for which the answer is yes."""
    keys = sorted({key for sample in samples for key in sample.tokens.values})
    positions: list[int | str] = [*range(POSITIONS), LAST, *keys]
    for position in positions:
        kinds = _counted(samples, "kind", position)
        for group in GROUPS.values():
            if not group.isdisjoint(kinds):
                yield Question("kind", position, group, 1.0), _summed(kinds, group)
    for about in ("segments", "slash", "extension", "query", "parameter"):
        counted = _counted(samples, about, 0)
        for value in sorted(counted, key=str):
            yield Question(about, 0, frozenset({value}), 1.0), counted[value]
    for position in positions:
        texts = _counted(samples, "text", position)
        for values in _text_sets(texts, total):
            yield Question("text", position, values, TEXT_BITS * len(values)), _summed(texts, values)


def _counted(samples: list[Sample], about: str, position: int | str) -> dict[Hashable, Counts]:
    counted: defaultdict[Hashable, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for sample in samples:
        others, articles = sample.counts
        for value in set(_values(sample.tokens, about, position)):
            count = counted[value]
            count[0] += others
            count[1] += articles
    return {value: Counts(*count) for value, count in counted.items()}


def _summed(counted: Mapping[Hashable, Counts], values: Iterable[Hashable]) -> Counts:
    chosen = [counted[value] for value in sorted(values, key=str) if value in counted]
    return Counts(sum(one.others for one in chosen), sum(one.articles for one in chosen))


def _text_sets(texts: Mapping[Hashable, Counts], total: Counts) -> Iterator[frozenset[Hashable]]:
    """Yield the best one, two, … of the texts that indicate articles, and of those that indicate other pages."""
    share = total.articles / sum(total)
    directions: tuple[Callable[[float], bool], ...] = (lambda rate: rate > share, lambda rate: rate < share)
    for indicates in directions:
        chosen = [
            (_gain_bits(total, counts), str(text))
            for text, counts in texts.items()
            if sum(counts) >= MIN_TEXT_SEEN and _is_literal(str(text)) and indicates(counts.articles / sum(counts))
        ]
        ranked = [text for _, text in sorted(chosen, key=lambda one: (-one[0], one[1]))[:MAX_TEXTS]]
        for size in range(1, len(ranked) + 1):
            yield frozenset(ranked[:size])
