"""Patterns: URLs of one shape, with conditions on positions. They can be merged, and converted to expressions."""

from __future__ import annotations

import re
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
)
from crawlers.urls.url_expressions import EXCEPT

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from crawlers.missions.news.urls.url_tokens import Shape

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

    def united(self, other: Condition) -> Condition | None:
        """Return the union of two conditions; None if it is not a `Condition`."""
        if self.is_only and other.is_only:
            return Condition(texts=self.texts | other.texts, is_only=True)
        if self.is_only or other.is_only:
            only, all_but = (self, other) if self.is_only else (other, self)
            if all(kind_of(str(text)) in all_but.kinds for text in only.texts):
                return all_but._replace(texts=all_but.texts - only.texts)
            return None
        if self.kinds == other.kinds:
            return self._replace(texts=self.texts & other.texts)
        return self._replace(kinds=self.kinds | other.kinds) if self.texts == other.texts else None

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

    def united(self, other: UrlPattern) -> UrlPattern | None:
        """Return the union of two patterns; None if they differ in more than one respect."""
        if self.shape != other.shape:
            return None
        names = sorted(self.positions.keys() | other.positions.keys(), key=str)
        differing = [n for n in names if self.positions.get(n, UNBOUND) != other.positions.get(n, UNBOUND)]
        if len(differing) + (self.slash != other.slash) > 1:
            return None
        if not differing:
            return self if self.slash == other.slash else replace(self, slash=None)
        name = differing[0]
        condition = self.positions.get(name, UNBOUND).united(other.positions.get(name, UNBOUND))
        return replace(self, positions={**self.positions, name: condition}) if condition else None


def merged(found: list[tuple[UrlPattern, Counts, int]]) -> list[tuple[UrlPattern, Counts, int]]:
    """Return the patterns, merged where they differ in one respect; each has its counts, and its number of labels."""
    left = list(found)
    done: list[tuple[UrlPattern, Counts, int]] = []
    while left:
        pattern, counts, number = left.pop(0)
        for position, (other, more, further) in enumerate(left):
            both = pattern.united(other)
            if both:
                left[position] = (
                    both,
                    Counts(counts.others + more.others, counts.articles + more.articles),
                    number + further,
                )
                break
        else:
            done.append((pattern, counts, number))
    return done if len(done) == len(found) else merged(done)


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
