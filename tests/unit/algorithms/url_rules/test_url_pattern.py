"""Conditions and patterns: what they allow, united, and how they are spelt."""

from __future__ import annotations

import re

import pytest

from crawlers.algorithms.url_rules.url_pattern import UNBOUND, Condition, UrlPattern, escaped, merged, regex_of
from crawlers.algorithms.url_rules.url_tokens import Shape

TWO = Shape(2, "", None)


def only(*texts: str) -> Condition:
    return UNBOUND.narrowed("text", frozenset(texts), True)


def but(*texts: str) -> Condition:
    return UNBOUND.narrowed("text", frozenset(texts), False)


def kinds(*names: str) -> Condition:
    return UNBOUND.narrowed("kind", frozenset(names), True)


def test_conditions_narrow_each_other() -> None:
    assert only("news", "2024").narrowed("kind", frozenset({"word"}), True) == only("news")
    assert only("news", "sport").narrowed("text", frozenset({"sport"}), False) == only("news")
    assert but("news").narrowed("text", frozenset({"news", "sport"}), True) == only("sport")


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (only("news"), only("sport"), only("news", "sport")),
        (only("news"), but("news"), UNBOUND),
        (only("news"), but("news", "tag"), but("tag")),
        (but("news", "tag"), but("tag"), but("tag")),
        (kinds("word"), kinds("pair"), kinds("word", "pair")),
        (only("news"), kinds("word"), kinds("word")),
        (only("2024"), kinds("word"), None),
        (but("news"), kinds("word"), None),
    ],
)
def test_conditions_unite_where_one_of_their_form_says_both(
    one: Condition, other: Condition, both: Condition | None
) -> None:
    assert one.united(other) == both
    assert other.united(one) == both


def test_patterns_unite_if_they_differ_in_one_thing() -> None:
    one = UrlPattern(TWO, True, {0: only("news"), 1: kinds("slug")})
    assert one.united(UrlPattern(TWO, False, one.places)) == UrlPattern(TWO, None, one.places)
    assert one.united(UrlPattern(TWO, False, {0: only("sport"), 1: kinds("slug")})) is None
    assert one.united(UrlPattern(Shape(2, ".html", None), True, one.places)) is None
    many = [(UrlPattern(TWO, True, {0: only(name), 1: kinds("slug")}), 2, 3) for name in "abcd"]
    ((pattern, articles, count),) = merged(many)
    assert (pattern.places[0], articles, count) == (only(*"abcd"), 8, 12)


@pytest.mark.parametrize(
    ("pattern", "regex"),
    [
        (UrlPattern(Shape(0, "", None)), "/"),
        (UrlPattern(TWO), "/[^/?]+/[^/?.]+/?"),
        (UrlPattern(TWO, True, {0: only("news", "sport")}), "/(?:news|sport)/[^/?.]+/"),
        (UrlPattern(TWO, False, {0: but("tag")}), "/(?!tag/)[^/?]+/[^/?.]+"),
        (UrlPattern(Shape(1, ".html", None), False, {0: kinds("day", "year", "date8", "number")}), r"/[0-9]+\.html"),
        (UrlPattern(Shape(1, ".php", ("id=", "")), False, {0: only("story")}), r"/story\.php\?id=[^&]*&[^&=]*"),
        (UrlPattern(Shape(1, "", ("id=",)), None, {"id=": kinds("word")}), r"/[^/?.]+/?\?id=[A-Za-z]+"),
    ],
)
def test_patterns_are_spelt_shortly(pattern: UrlPattern, regex: str) -> None:
    assert regex_of(pattern) == regex


def test_any_text_can_be_spelt_out() -> None:
    for text in ("a.b", "(a|b)*", "[x]{2}^$", "c:\\d", "%D0%BF-%D1%80"):
        assert re.fullmatch(escaped(text), text)
