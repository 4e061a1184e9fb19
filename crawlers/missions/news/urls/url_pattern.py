"""Learns patterns of the URLs of one domain: labelled URLs in, regular expressions out.

The URLs of each shape (segments, extension, parameters) are divided by the questions with the highest information
gain about one of their tokens. It must gain more bits than it takes to describe, so that wrong labels do not grow
branches. What remains together, and has mostly articles, becomes an expression; so only labelled shapes of URLs match.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from crawlers.missions.news.urls.url_tokens import (
    ALL_KINDS,
    FAMILIES,
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
# Description length of a question about kinds, and of each text of one about texts; 6 bits are G = 8.3 (p < 0.004) in a
# G-test, because many questions are tried.
KIND_BITS, TEXT_BITS = 6.0, 4.0
MAX_TEXTS = 8  # in one question
MAX_TEXT_LENGTH = 40  # longer ones are titles
MIN_TEXT_SEEN = 2  # URLs with a text
MIN_AGREED = 5  # URLs that must agree on a common value
AGREED_SHARE = 0.9  # of the URLs of a rule that must agree
_NUMBERS = FAMILIES["digits"][0] | {"date"}
_EXPRESSIONS = [*FAMILIES.values(), *((frozenset({name}), regex) for name, regex in KINDS.items())]
_NO_KINDS: frozenset[str] = frozenset()
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")


class RuleCandidate(NamedTuple):
    """An expression, the number of its labels, and the lower bound of the share of articles among them."""

    regex: str
    support: int
    precision_low: float


class Counts(NamedTuple):
    """What a URL, or several together, count for other pages and for articles; a certain label counts 1."""

    others: float
    articles: float


class Sample(NamedTuple):
    """The tokens of a labelled URL."""

    tokens: Sequence[Token]
    counts: Counts


class Question(NamedTuple):
    """Whether a token has one of some kinds, or one of some texts."""

    position: int  # of the token
    is_text: bool
    values: frozenset[str]
    bits: float = 0.0  # description length

    def holds(self, tokens: Sequence[Token]) -> bool:
        """Return whether the answer is yes for a URL with these *tokens*."""
        token = tokens[self.position]
        return (token.text if self.is_text else token.kind) in self.values


class Pattern(NamedTuple):
    """The URLs of a shape that answer questions, and the labelled ones among them."""

    answers: tuple[tuple[Question, bool], ...]
    samples: Sequence[Sample]

    def divided(self, question: Question) -> tuple[Pattern, Pattern]:
        """Return those that answer no, and those that answer yes."""
        parts: tuple[list[Sample], list[Sample]] = [], []
        for sample in self.samples:
            parts[question.holds(sample.tokens)].append(sample)
        no, yes = (Pattern((*self.answers, (question, bool(answer))), part) for answer, part in enumerate(parts))
        return no, yes


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
    .. [3] Rissanen (1978), Modeling by Shortest Data Description.
    """
    rules = []
    for shape, pattern in patterns(labels):
        counts = total(sample.counts for sample in pattern.samples)
        precision_low = wilson_low(counts.articles, sum(counts))
        if precision_low >= MIN_BOUND:
            rules.append(RuleCandidate(regex_of(shape, pattern.answers), len(pattern.samples), precision_low))
    return sorted(rules, key=lambda rule: (-rule.support, rule.regex))


def patterns(labels: Mapping[str, Counts]) -> Iterator[tuple[Shape, Pattern]]:
    """Divide the URLs of *labels* by shape, and by questions; yield the patterns that remain."""
    shapes: dict[Shape, list[Sample]] = defaultdict(list)
    for target, counts in sorted(labels.items()):
        if (found := tokens_of(target)) is not None:
            shapes[found.shape].append(Sample(found.tokens, counts))
    for shape, samples in shapes.items():
        growing = [Pattern((), samples)]
        while growing:
            pattern = growing.pop()
            question = _best_question(pattern.samples) if len(pattern.answers) < MAX_QUESTIONS else None
            if question is not None:
                growing += pattern.divided(question)
            else:
                yield from ((shape, one) for one in _agreed(pattern))


def _agreed(pattern: Pattern) -> Iterator[Pattern]:
    """Restrict a pattern to values on which nine in ten of its URLs agree; yield the others as other patterns."""
    for position in range(len(pattern.samples[0].tokens)):
        texts = Counter(t for sample in pattern.samples if _is_literal(t := sample.tokens[position].text))
        likely = [Question(position, True, frozenset({max(texts, key=lambda t: (texts[t], t))}))] if texts else []
        likely += [Question(position, False, kinds) for kinds, _ in FAMILIES.values()]
        for question in likely:
            no, yes = pattern.divided(question)
            if len(yes.samples) >= max(MIN_AGREED, AGREED_SHARE * len(pattern.samples)):
                if no.samples:
                    yield no
                pattern = yes
                break
    yield pattern


def _best_question(samples: Sequence[Sample]) -> Question | None:
    whole = total(sample.counts for sample in samples)
    if 0.0 in whole:
        return None
    best, best_score = None, 0.0
    for question, counts in _questions(samples, whole):
        score = _gain_bits(whole, counts) - question.bits
        if score > best_score + 1e-9:
            best, best_score = question, score
    return best


def _gain_bits(whole: Counts, yes: Counts) -> float:
    """Return the gain in bits of a question that splits *whole* (others, articles) into *yes* and the rest."""
    no = Counts(max(0.0, whole.others - yes.others), max(0.0, whole.articles - yes.articles))
    return _bits(whole) - _bits(yes) - _bits(no)


def _bits(counts: Counts) -> float:
    count = sum(counts)
    return -sum(one * math.log2(one / count) for one in counts if one > 0.0)


def _questions(samples: Sequence[Sample], whole: Counts) -> Iterator[tuple[Question, Counts]]:
    """Yield all questions worth testing, with the counts of the URLs for which the answer is yes."""
    for position in range(len(samples[0].tokens)):
        kinds: dict[str, list[Counts]] = defaultdict(list)
        texts: dict[str, list[Counts]] = defaultdict(list)
        for sample in samples:
            token = sample.tokens[position]
            kinds[token.kind].append(sample.counts)
            texts[token.text].append(sample.counts)
        of_kinds = {kind: total(its) for kind, its in kinds.items()}
        for group, _ in _EXPRESSIONS:
            if not group.isdisjoint(of_kinds):
                yield (
                    Question(position, False, group, KIND_BITS),
                    total(of_kinds[kind] for kind in sorted(group & of_kinds.keys())),
                )
        of_texts = {t: total(its) for t, its in texts.items() if len(its) >= MIN_TEXT_SEEN and _is_literal(t)}
        for few in _text_sets(of_texts, whole):
            yield (
                Question(position, True, frozenset(few), TEXT_BITS * len(few)),
                total(of_texts[text] for text in few),
            )


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum of *counts*."""
    others = articles = 0.0
    for one in counts:
        others += one.others
        articles += one.articles
    return Counts(others, articles)


def _text_sets(texts: Mapping[str, Counts], whole: Counts) -> Iterator[Sequence[str]]:
    """Yield the best one, two, … of the texts that indicate articles, and of those that indicate other pages."""
    share = whole.articles / sum(whole)
    ranked = sorted(texts, key=lambda text: (-_gain_bits(whole, texts[text]), text))
    for is_of_articles in (True, False):
        few = [t for t in ranked if (texts[t].articles / sum(texts[t]) > share) == is_of_articles][:MAX_TEXTS]
        yield from (few[:size] for size in range(1, len(few) + 1))


def _is_literal(text: str) -> bool:
    """Return whether *text* may be a literal: numbers would not match next year, and long texts are titles."""
    return 0 < len(text) <= MAX_TEXT_LENGTH and kind_of(text) not in _NUMBERS


def regex_of(shape: Shape, answers: Sequence[tuple[Question, bool]]) -> str:
    """Return the expression of the URLs of *shape* that give *answers*, as path and query."""
    names = shape.parameters or ()
    anything = ["[^/?]+"] * shape.segments + ["[^&]*" if name else "[^&=]*" for name in names]
    if shape.segments and not shape.extension:
        anything[shape.segments - 1] = "[^/?.]+"
    wanted, unwanted = list(anything), []
    for position in sorted({question.position for question, _ in answers}):
        its = [(question, answer) for question, answer in answers if question.position == position]
        wanted[position], exceptions = _position_expressions(its, anything[position])
        if exceptions:
            unwanted.append([*anything[:position], _one_of(exceptions), *anything[position + 1 :]])
    return EXCEPT.join(_url(shape, names, parts) for parts in (wanted, *unwanted))


def _url(shape: Shape, names: Sequence[str], parts: Sequence[str]) -> str:
    """Return the expression of URLs of *shape*, given those of their tokens."""
    path = f"/{'/'.join(parts[: shape.segments])}{escaped(shape.extension)}{'/?' if shape.segments else ''}"
    if shape.parameters is None:
        return path
    values = (escaped(name) + part for name, part in zip(names, parts[shape.segments :], strict=True))
    return f"{path}\\?{'&'.join(values)}"


def _position_expressions(answers: Sequence[tuple[Question, bool]], anything: str) -> tuple[str, Sequence[str]]:
    """Return the expression of the tokens that give *answers*, and those of their exceptions."""
    kinds, only, but = ALL_KINDS, None, _NO_KINDS
    for question, answer in answers:
        values = question.values
        if not question.is_text:
            kinds = kinds & values if answer else kinds - values
        elif answer:
            only = values if only is None else only & values
        else:
            but |= values
    if only is not None:
        return _one_of(escaped(text) for text in sorted(only - but) if kind_of(text) in kinds), []
    texts = [escaped(text) for text in sorted(but) if kind_of(text) in kinds]
    refused = ALL_KINDS - kinds
    if OTHER in kinds and not _hidden(refused) & kinds - {"date"}:  # dates may go with titles: they are no articles
        return anything, [*_cover(refused), *texts]
    return _one_of(_cover(kinds - {OTHER, "empty"} or kinds)), [*_cover(_hidden(kinds) - kinds), *texts]


def _hidden(kinds: frozenset[str]) -> frozenset[str]:
    """Return the kinds of which expressions of *kinds* match texts as well."""
    return _NO_KINDS.union(*(HIDES.get(kind, _NO_KINDS) for kind in kinds))


def _cover(kinds: frozenset[str]) -> list[str]:
    """Return few expressions that together match texts of *kinds*; `HIDES` tells which others they match."""
    found = []
    left = set(kinds)
    for group, regex in _EXPRESSIONS:
        if group <= kinds and not group.isdisjoint(left):
            found.append(regex)
            left -= group
    return found


def _one_of(regexes: Iterable[str]) -> str:
    parts = list(regexes)
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def escaped(text: str) -> str:
    r"""Return the expression of *text*, that of a token, with fewer escapes than `re.escape`, for readability.

    >>> escaped("middle-east.html"), escaped("article#")
    ('middle-east\\.html', 'article[0-9]{4,}')
    """
    return _SPECIAL.sub(r"\\\g<0>", text).replace(IDENTIFIED, UUID).replace(NUMBERED, NUMBER)
