"""Conditions and patterns: what they match, and their expressions."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.missions.news.urls.url_pattern import UNBOUND, UrlPattern, regex_of
from crawlers.missions.news.urls.url_tokens import KINDS, OTHER, Shape, kind_of
from crawlers.urls.url_expressions import UrlExpressions

TWO = Shape(2, "", None)


def only(*texts):
    return UNBOUND.narrowed("text", frozenset(texts), True)


def but(*texts):
    return UNBOUND.narrowed("text", frozenset(texts), False)


def kinds(*names):
    return UNBOUND.narrowed("kind", frozenset(names), True)


def no_kinds(*names):
    return UNBOUND.narrowed("kind", frozenset(names), False)


@pytest.mark.parametrize(
    ("pattern", "regex"),
    [
        (UrlPattern(Shape(0, "", None)), "/"),
        (UrlPattern(TWO), "/[^/?]+/[^/?.]+/?"),
        (UrlPattern(TWO, True, {0: only("news", "sport")}), "/(?:news|sport)/[^/?.]+/"),
        (UrlPattern(TWO, False, {0: but("tag")}), "/[^/?]+/[^/?.]+ except /tag/[^/?.]+"),
        (UrlPattern(Shape(1, ".html", None), False, {0: kinds("day", "year", "date8", "number")}), r"/[0-9]+\.html"),
        (UrlPattern(Shape(1, ".php", ("id=", "")), False, {0: only("story")}), r"/story\.php\?id=[^&]*&[^&=]*"),
        (UrlPattern(Shape(1, "", ("id=",)), None, {"id=": kinds("word")}), r"/[^/?.]+/?\?id=[A-Za-z]+"),
        (
            UrlPattern(TWO, None, {0: kinds("number")}),
            "/[0-9]{3,}/[^/?.]+/? except /(?:(?:19|20)[0-9]{2}|(?:19|20)[0-9]{6})/[^/?.]+/?",
        ),
        (
            UrlPattern(Shape(1, "", ("id=",)), None, {"id=": no_kinds("empty")}),
            r"/[^/?.]+/?\?id=[^&]* except /[^/?.]+/?\?id=",
        ),
    ],
)
def test_expressions_of_patterns_are_short(pattern, regex):
    assert regex_of(pattern) == regex


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.frozensets(st.sampled_from([*KINDS, OTHER]), min_size=1),
    st.sampled_from([0, 1, "id="]),
    st.lists(st.text("019-_.,aé", max_size=9), min_size=20, max_size=20),
)
def test_expression_of_any_set_of_kinds_matches_texts_of_these_kinds_and_no_others(names, place, texts):
    expressions = UrlExpressions([regex_of(UrlPattern(Shape(2, ".x", ("id=",)), False, {place: kinds(*names)}))])
    for text in [*texts, "1999", "19990101", "2024-05", "cup-12345", "12345-cup", "a-1", "--", "who-won-it"]:
        if text or place == "id=":
            url = {0: f"/{text}/b.x?id=5", 1: f"/a/{text}.x?id=5", "id=": f"/a/b.x?id={text}"}[place]
            assert bool(expressions.matching(url)) == (kind_of(text) in names)
