"""Learns patterns of the URLs of one domain: labelled URLs in, regular expressions out.

The URLs of each shape (segments, extension, parameters) are divided by the questions with the highest information
gain about one of their tokens. It must gain more bits than it takes to describe, so that wrong labels do not grow
branches. What remains together, and has mostly articles, becomes an expression; so only labelled shapes of URLs match.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from crawlers.missions.news.urls.url_tokens import (
    HIDES,
    IDENTIFIED,
    KINDS,
    NUMBER,
    NUMBERED,
    OTHER,
    UUID,
    kind_of,
    tokens_of,
)
from crawlers.urls.url_expressions import EXCEPT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crawlers.missions.news.urls.url_tokens import Shape, Token

MIN_BOUND = 0.5  # lower bound of a rule's precision; with a fifth of the labels wrong, a pure one only has 0.8
Z = 1.28  # one-sided 90 %
MAX_QUESTIONS = 12  # that lead to a rule
QUESTION_BITS = 5.8  # description length: G = 8.0 (p < 0.005) in a G-test, because many questions are tried
MAX_TEXT_LENGTH = 40  # longer ones are titles
MIN_AGREED = 5  # URLs with one text at a position: story.php says nothing of comments.php
MIN_SEEN = 2  # URLs for which the answer to a question is yes
_NUMBERS = frozenset({"day", "year", "date8", "number", "date"})
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")


class RuleCandidate(NamedTuple):
    """An expression, the number of its labels, and the lower bound of the share of articles among them."""

    regex: str
    support: int
    precision_low: float


class Sample(NamedTuple):
    """The tokens of a labelled URL."""

    tokens: Sequence[Token]
    is_article: bool


class Question(NamedTuple):
    """Whether the token at a position has a kind, or a text."""

    position: int
    is_text: bool
    value: str

    def holds(self, tokens: Sequence[Token]) -> bool:
        """Return whether the answer is yes for a URL with these *tokens*."""
        token = tokens[self.position]
        return (token.text if self.is_text else token.kind) == self.value


class Pattern(NamedTuple):
    """The URLs of a shape that answer questions, and the labelled ones among them."""

    answers: tuple[tuple[Question, bool], ...]
    samples: Sequence[Sample]


def wilson_low(successes: int, count: int) -> float:
    """Return the lower bound of a probability, given *successes* out of *count* > 0 trials (Wilson score interval).

    >>> round(wilson_low(10, 10), 3)
    0.859

    References
    ----------
    .. [1] Wilson (1927), Probable Inference, the Law of Succession, and Statistical Inference.
    """
    share, square = successes / count, Z * Z / count
    middle = share + square / 2
    return (middle - Z * math.sqrt(share * (1 - share) / count + square / (4 * count))) / (1 + square)


def learn_patterns(labels: Mapping[str, bool]) -> list[RuleCandidate]:
    """Return the expressions of articles, those with the most labels first.

    *labels* are by URL (path and query); their order does not matter.

    References
    ----------
    .. [1] Lei, Cai, Yang, Ke, Fan, Zhang (2010), A Pattern Tree-based Approach to Learning URL Normalization Rules.
    .. [2] Koppula et al. (2010), Learning URL Patterns for Webpage De-duplication.
    .. [3] Rissanen (1978), Modeling by Shortest Data Description.
    """
    rules = []
    for shape, pattern in patterns(labels):
        number = len(pattern.samples)
        precision_low = wilson_low(sum(sample.is_article for sample in pattern.samples), number)
        if precision_low >= MIN_BOUND:
            rules.append(RuleCandidate(regex_of(shape, pattern), number, precision_low))
    return sorted(rules, key=lambda rule: (-rule.support, rule.regex))


def patterns(labels: Mapping[str, bool]) -> Iterator[tuple[Shape, Pattern]]:
    """Divide the URLs of *labels* by shape, and by questions; yield the patterns that remain."""
    shapes: dict[Shape, list[Sample]] = defaultdict(list)
    for target, is_article in labels.items():
        if (found := tokens_of(target)) is not None:
            shapes[found.shape].append(Sample(found.tokens, is_article))
    for shape, samples in shapes.items():
        growing = [Pattern((), samples)]
        while growing:
            pattern = growing.pop()
            question = _best_question(pattern.samples) if len(pattern.answers) < MAX_QUESTIONS else None
            if question is None:
                yield shape, pattern
                continue
            for answer in (False, True):
                part = [one for one in pattern.samples if question.holds(one.tokens) == answer]
                growing.append(Pattern((*pattern.answers, (question, answer)), part))


def _best_question(samples: Sequence[Sample]) -> Question | None:
    """Return the question that gains the most bits, less those that describe it; None if none gains any."""
    articles = sum(sample.is_article for sample in samples)
    if articles in (0, len(samples)):
        return None
    counts: dict[Question, list[int]] = defaultdict(lambda: [0, 0])  # other pages, articles
    for tokens, is_article in samples:
        for position, token in enumerate(tokens):
            counts[Question(position, False, token.kind)][is_article] += 1
            if _is_literal(token.text):
                counts[Question(position, True, token.text)][is_article] += 1
    whole = (len(samples) - articles, articles)
    scores = {
        question: _bits(whole) - _bits(yes) - _bits((whole[0] - yes[0], whole[1] - yes[1])) - QUESTION_BITS
        for question, yes in counts.items()
        if sum(yes) >= MIN_SEEN
    }
    best = max(
        scores, key=lambda question: (round(scores[question], 9), counts[question][True], question), default=None
    )
    return best if best is not None and scores[best] > 0.0 else None


def _bits(counts: Sequence[int]) -> float:
    return -sum(one * math.log2(one / sum(counts)) for one in counts if one)


def _is_literal(text: str) -> bool:
    """Return whether *text* may be a literal: numbers would not match next year, and long texts are titles."""
    return 0 < len(text) <= MAX_TEXT_LENGTH and kind_of(text) not in _NUMBERS


def regex_of(shape: Shape, pattern: Pattern) -> str:
    """Return the expression of the URLs of *shape* that give the answers of *pattern*, as path and query."""
    names = shape.parameters or ()
    anything = ["[^/?]+"] * shape.segments + ["[^&]*" if name else "[^&=]*" for name in names]
    if shape.segments and not shape.extension:
        anything[shape.segments - 1] = "[^/?.]+"
    wanted, unwanted = list(anything), []
    for position, any_text in enumerate(anything):
        its = [(question, answer) for question, answer in pattern.answers if question.position == position]
        literal = next((question.value for question, answer in its if question.is_text and answer), None)
        if literal is None and len(pattern.samples) >= MIN_AGREED:
            texts = {sample.tokens[position].text for sample in pattern.samples}
            literal = next(filter(_is_literal, texts), None) if len(texts) == 1 else None
        if literal is not None:
            wanted[position] = escaped(literal)
            continue
        kinds = {sample.tokens[position].kind for sample in pattern.samples}
        exceptions = sorted(escaped(question.value) for question, _ in its if question.is_text)
        is_of_kinds = len(its) > len(exceptions)
        if is_of_kinds or len(kinds) == 1:
            wanted[position] = _one_of(_expression(kind, any_text) for kind in sorted(kinds))
        if is_of_kinds:
            hidden = {hidden for kind in kinds for hidden in HIDES.get(kind, ())} - kinds
            exceptions = [*(KINDS[kind] for kind in sorted(hidden)), *exceptions]
        if exceptions:
            unwanted.append([*anything[:position], _one_of(exceptions), *anything[position + 1 :]])
    return EXCEPT.join(_url(shape, names, parts) for parts in (wanted, *unwanted))


def _expression(kind: str, anything: str) -> str:
    """Return the expression of a token of *kind* where *anything* is that of all tokens."""
    if kind != OTHER:
        return KINDS[kind]
    separators = "".join(one for one in ".=&/?" if one not in anything)
    return f"{anything[:-1]}*[{separators}]{anything[:-1]}*"


def _url(shape: Shape, names: Sequence[str], parts: Sequence[str]) -> str:
    """Return the expression of URLs of *shape*, given those of their tokens."""
    path = f"/{'/'.join(parts[: shape.segments])}{escaped(shape.extension)}{'/?' if shape.segments else ''}"
    if shape.parameters is None:
        return path
    values = (escaped(name) + part for name, part in zip(names, parts[shape.segments :], strict=True))
    return f"{path}\\?{'&'.join(values)}"


def _one_of(regexes: Iterable[str]) -> str:
    parts = list(regexes)
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def escaped(text: str) -> str:
    r"""Return the expression of *text*, that of a token, with fewer escapes than `re.escape`, for readability.

    >>> escaped("middle-east.html"), escaped("article#")
    ('middle-east\\.html', 'article[0-9]{4,}')
    """
    return _SPECIAL.sub(r"\\\g<0>", text).replace(IDENTIFIED, UUID).replace(NUMBERED, NUMBER)
