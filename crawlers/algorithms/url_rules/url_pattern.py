"""A set of URLs of one shape with conditions for their places; patterns are merged, and converted to expressions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from crawlers.algorithms.url_rules.url_expressions import EXCEPT
from crawlers.algorithms.url_rules.url_tokens import (
    FAMILIES,
    IDSLUG_ONLY,
    KINDS,
    MATCHED_TOO,
    NUMBER,
    NUMBERED,
    OTHER,
    kind_of,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from crawlers.algorithms.url_rules.url_tokens import Shape

_ALL = frozenset({*KINDS, OTHER})
_OF_PATH = _ALL - {"empty"}
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")
_NONE: frozenset[str] = frozenset()


class _Expression(NamedTuple):
    """An expression for all texts of some kinds, and for some texts of others."""

    kinds: frozenset[str]
    matched_too: frozenset[str]
    regex: str


_EXPRESSIONS = (  # the first suitable one is used
    *(_Expression(kinds, MATCHED_TOO.get(name, _NONE), regex) for name, (kinds, regex) in FAMILIES.items()),
    *(_Expression(frozenset({name}), MATCHED_TOO.get(name, _NONE), regex) for name, regex in KINDS.items()),
    _Expression(frozenset({"idslug"}), _NONE, IDSLUG_ONLY),
)


class Condition(NamedTuple):
    """Allowed values of a place: texts of some kinds; of these only those in `texts`, or all others."""

    kinds: frozenset[Hashable] = _ALL
    texts: frozenset[Hashable] = frozenset()
    is_only: bool = False

    def narrowed(self, about: str, values: frozenset[Hashable], answer: bool) -> Condition:
        """Return the condition restricted to a kind or text that is (for the answer no: is not) one of *values*."""
        if about == "kind":
            kinds = self.kinds & values if answer else self.kinds - values
            return self._replace(kinds=kinds)._tidy()
        if not answer:
            return self._replace(texts=self.texts - values if self.is_only else self.texts | values)
        texts = self.texts & values if self.is_only else values - self.texts
        return Condition(self.kinds, texts, is_only=True)._tidy()

    def united(self, other: Condition) -> Condition | None:
        """Return the union of two conditions; None if it is not of this form."""
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
        """Return the condition without redundant parts: listed texts imply their kinds."""
        if not self.is_only:
            return self
        return Condition(texts=frozenset(t for t in self.texts if kind_of(str(t)) in self.kinds), is_only=True)


UNBOUND = Condition()


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """URLs of a shape, with or without a trailing slash (None: both), whose places fulfil conditions."""

    shape: Shape
    slash: bool | None = None
    places: Mapping[int | str, Condition] = field(default_factory=dict)

    def narrowed(self, place: int | str, about: str, values: frozenset[Hashable], answer: bool) -> UrlPattern:
        """Return the pattern with an additional condition."""
        condition = self.places.get(place, UNBOUND).narrowed(about, values, answer)
        return replace(self, places={**self.places, place: condition})

    def united(self, other: UrlPattern) -> UrlPattern | None:
        """Return the union of two patterns; None if they differ in more than one respect."""
        if self.shape != other.shape:
            return None
        names = sorted(self.places.keys() | other.places.keys(), key=str)
        differing = [n for n in names if self.places.get(n, UNBOUND) != other.places.get(n, UNBOUND)]
        if len(differing) + (self.slash != other.slash) > 1:
            return None
        if not differing:
            return self if self.slash == other.slash else replace(self, slash=None)
        name = differing[0]
        condition = self.places.get(name, UNBOUND).united(other.places.get(name, UNBOUND))
        return replace(self, places={**self.places, name: condition}) if condition else None


def merged(found: list[tuple[UrlPattern, int, int]]) -> list[tuple[UrlPattern, int, int]]:
    """Return the patterns, merged if they differ in one respect; their numbers are added."""
    left = list(found)
    done: list[tuple[UrlPattern, int, int]] = []
    while left:
        pattern, articles, count = left.pop(0)
        for place, (other, more_articles, more) in enumerate(left):
            both = pattern.united(other)
            if both:
                left[place] = (both, articles + more_articles, count + more)
                break
        else:
            done.append((pattern, articles, count))
    return done if len(done) == len(found) else merged(done)


def regex_of(pattern: UrlPattern) -> str:
    """Return the expression that matches exactly the URLs of *pattern*, as path and query."""
    wanted, unwanted = {}, {}
    for place in sorted(pattern.places, key=str):
        possible, other = _possible(pattern.shape, place), _other(pattern.shape, place)
        wanted[place], unwanted[place] = _place_expressions(pattern.places[place], possible, other)
    exceptions = (_url(pattern, {place: regex}) for place, regex in unwanted.items() if regex is not None)
    return EXCEPT.join([_url(pattern, wanted), *exceptions])


def escaped(text: str) -> str:
    r"""Return the expression of *text*, a token's; it has fewer escapes than `re.escape`, for readability.

    >>> escaped("middle-east.html"), escaped("article#")
    ('middle-east\\.html', 'article[0-9]{4,}')
    """
    return _SPECIAL.sub(r"\\\g<0>", text).replace(NUMBERED, NUMBER)


def _possible(shape: Shape, place: int | str) -> _Expression:
    """Return the expression of all possible texts in a place of *shape*."""
    if isinstance(place, str):
        return _Expression(_ALL, _NONE, "[^&]*" if place else "[^&=]*")
    return _Expression(_OF_PATH, _NONE, "[^/?]+" if place < shape.segments - 1 or shape.extension else "[^/?.]+")


def _other(shape: Shape, place: int | str) -> _Expression:
    """Return the expression of texts of none of `KINDS`."""
    if isinstance(place, str):
        regex = "[^&]*[./?=][^&]*" if place else "[^&=]*[./?][^&=]*"
    elif place < shape.segments - 1 or shape.extension:
        regex = "[^/?]*[.&=][^/?]*"
    else:
        regex = "[^/?.]*[&=][^/?.]*"
    return _Expression(frozenset({OTHER}), _NONE, regex)


def _url(pattern: UrlPattern, places: Mapping[int | str, str]) -> str:
    """Return the expression of URLs with the shape of *pattern*, with *places* given and the others arbitrary."""
    shape = pattern.shape
    segments = [places.get(place) or _possible(shape, place).regex for place in range(shape.segments)]
    slash = "" if not segments or pattern.slash is False else "/" if pattern.slash else "/?"
    path = f"/{'/'.join(segments)}{escaped(shape.extension)}{slash}"
    if shape.parameters is None:
        return path
    left = dict(places)  # the first parameter of a name counts
    values = [escaped(name) + left.pop(name, _possible(shape, name).regex) for name in shape.parameters]
    return f"{path}\\?{'&'.join(values)}"


def _place_expressions(condition: Condition, possible: _Expression, other: _Expression) -> tuple[str, str | None]:
    """Return the expression of a place that fulfils *condition*, and the one of its exceptions, if any."""
    if condition.is_only:
        return _one_of(escaped(str(text)) for text in sorted(map(str, condition.texts))), None
    texts = [escaped(text) for text in sorted(map(str, condition.texts)) if kind_of(text) in condition.kinds]
    kinds = possible.kinds & condition.kinds
    ways = []
    for chosen in ([possible], _cover(kinds, other, _NONE) or []):
        matched = frozenset().union(*(one.kinds | one.matched_too for one in chosen))
        exceptions = _cover(matched - kinds, other, spared=kinds)
        if exceptions is not None:
            unwanted = [*texts, *(one.regex for one in exceptions)]
            ways.append((_one_of(one.regex for one in chosen), _one_of(unwanted) if unwanted else None))
    return min(ways, key=lambda way: len(way[0]) + len(way[1] or ""))


def _cover(kinds: frozenset[str], other: _Expression, spared: frozenset[str]) -> list[_Expression] | None:
    """Return the fewest expressions that together match *kinds* but none of *spared*; None if that is impossible."""
    left = set(kinds)
    found = []
    for one in (*_EXPRESSIONS, other):
        if one.kinds <= kinds and one.kinds & left and not one.matched_too & spared:
            found.append(one)
            left -= one.kinds
    return None if left else found


def _one_of(regexes: Iterable[str]) -> str:
    parts = list(regexes)
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"
