"""A set of URLs of one shape, with conditions for their places; united with others, and as a regular expression."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from crawlers.algorithms.url_rules.url_tokens import FAMILIES, KINDS, NUMBER, NUMBERED, OTHER, kind_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from crawlers.algorithms.url_rules.url_tokens import Shape

_ALL = frozenset({*KINDS, OTHER})
_OF_PATH = _ALL - {"empty"}
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")
_SPELT = tuple((name, kinds, regex) for name, (kinds, regex) in FAMILIES.items()) + tuple(
    (name, frozenset({name}), regex) for name, regex in KINDS.items()
)


class Condition(NamedTuple):
    """What a place may hold: texts of some kinds; of these only those in `texts`, or all but those."""

    kinds: frozenset[Hashable] = _ALL
    texts: frozenset[Hashable] = frozenset()
    is_only: bool = False

    def narrowed(self, about: str, values: frozenset[Hashable], answer: bool) -> Condition:
        """The condition, and that the kind or text is (or, for the answer no, isn't) one of *values*."""
        if about == "kind":
            kinds = self.kinds & values if answer else self.kinds - values
            return self._replace(kinds=kinds)._tidy()
        if not answer:
            return self._replace(texts=self.texts - values if self.is_only else self.texts | values)
        texts = self.texts & values if self.is_only else values - self.texts
        return Condition(self.kinds, texts, is_only=True)._tidy()

    def united(self, other: Condition) -> Condition | None:
        """The condition that holds where one of the two does; None if there is none of this form."""
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
        """Texts in a list have their kinds: those of other kinds go, and the kinds say nothing more."""
        if not self.is_only:
            return self
        return Condition(texts=frozenset(t for t in self.texts if kind_of(str(t)) in self.kinds), is_only=True)


UNBOUND = Condition()


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """URLs of a shape, with or without a slash at the end (None: both), whose places fulfil conditions."""

    shape: Shape
    slash: bool | None = None
    places: Mapping[int | str, Condition] = field(default_factory=dict)

    def narrowed(self, place: int | str, about: str, values: frozenset[Hashable], answer: bool) -> UrlPattern:
        """The pattern with one condition more."""
        condition = self.places.get(place, UNBOUND).narrowed(about, values, answer)
        return replace(self, places={**self.places, place: condition})

    def united(self, other: UrlPattern) -> UrlPattern | None:
        """The pattern of the URLs of either; None if the two differ in more than one thing."""
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
    """Return the patterns with those united that differ in one thing; their numbers add up."""
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
    shape = pattern.shape
    last = shape.segments - 1
    extension = escaped(shape.extension)
    plain_last = "[^/?]" if extension else "[^/?.]"
    segments = []
    for place in range(shape.segments):
        condition = pattern.places.get(place, UNBOUND)
        if place < last:
            segments.append(_condition(condition, _OF_PATH, "[^/?]+", "[^/?]*[.&=][^/?]*", "/"))
        else:
            other = "[^/?]*[.&=][^/?]*" if extension else "[^/?.]*[&=][^/?.]*"
            segments.append(_condition(condition, _OF_PATH, f"{plain_last}+", other, f"{extension}(?:[/?]|$)"))
    slash = "" if not segments or pattern.slash is False else "/" if pattern.slash else "/?"
    path = f"/{'/'.join(segments)}{extension}{slash}"
    return path if shape.parameters is None else f"{path}\\?{_query(pattern)}"


def escaped(text: str) -> str:
    r"""Return the expression of *text*, a token's; fewer signs are escaped than by `re.escape`, for readers.

    >>> escaped("middle-east.html"), escaped("article#")
    ('middle-east\\.html', 'article[0-9]{4,}')
    """
    return _SPECIAL.sub(r"\\\g<0>", text).replace(NUMBERED, NUMBER)


def _query(pattern: UrlPattern) -> str:
    parts = []
    met = set()
    for name in pattern.shape.parameters or ():
        condition = UNBOUND if name in met else pattern.places.get(name, UNBOUND)
        met.add(name)
        plain = "[^&]" if name else "[^&=]"
        sign = "[./?=]" if name else "[./?]"
        parts.append(escaped(name) + _condition(condition, _ALL, f"{plain}*", f"{plain}*{sign}{plain}*", "(?:&|$)"))
    return "&".join(parts)


def _condition(condition: Condition, possible: frozenset[str], anything: str, other: str, end: str) -> str:
    if condition.is_only:
        return _one_of(escaped(str(text)) for text in sorted(map(str, condition.texts)))
    unwanted = sorted(str(text) for text in condition.texts if kind_of(str(text)) in condition.kinds)
    but = f"(?!{_one_of(map(escaped, unwanted))}{end})" if unwanted else ""
    wanted = _one_of(_spelt(possible & condition.kinds, other))
    left_out = possible - condition.kinds
    if not left_out:
        return but + anything
    refused = f"(?!{_one_of(_spelt(left_out, other))}{end}){anything}"
    return but + min(wanted, refused, key=len)


def _spelt(kinds: frozenset[str], other: str) -> Iterable[str]:
    """The fewest expressions that together match *kinds*."""
    left = set(kinds)
    parts = []
    for _, covered, regex in _SPELT:
        if covered <= kinds and covered & left:
            parts.append(regex)
            left -= covered
    return [*parts, *([other] if OTHER in left else [])]


def _one_of(regexes: Iterable[str]) -> str:
    parts = list(regexes)
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"
