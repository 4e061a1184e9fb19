"""Tokens of URLs: every text has one kind."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.missions.news.urls.url_tokens import (
    HIDES,
    KINDS,
    OTHER,
    Shape,
    kind_of,
    tokens_of,
)

texts = st.lists(
    st.sampled_from([*"aZ1290-_.,=&éя", "19", "20", "2024", "1234", "%D0%BF"]), max_size=8
).map("".join)  # fmt: skip


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(texts, min_size=50, max_size=50))
def test_text_has_the_first_matching_kind_and_expressions_match_only_their_kinds(many):
    expressions = [(frozenset({name}), regex) for name, regex in KINDS.items()]
    for text in many:
        kind = kind_of(text)
        assert kind == next((name for name, regex in KINDS.items() if re.fullmatch(regex, text)), OTHER)
        assert (kind == OTHER) == bool(re.search("[.=&]", text))
        for kinds, regex in expressions:
            matches = re.fullmatch(regex, text) is not None
            assert matches or kind not in kinds
            assert not matches or kind in kinds.union(*(HIDES.get(one, frozenset()) for one in kinds))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"), ("7", "day"), ("1999", "year"), ("3024", "number"), ("20240501", "date8"), ("123456", "number"),
        ("news", "word"), ("p60bhj", "alnum"), ("2024-05-01", "date"), ("2024_5", "date"), ("middle-east", "pair"),
        ("top-100", "pair"), ("who-won-it", "slug"), ("who_won_it", "slug"), ("who-won-1234567", "idslug"),
        ("1234567-who-won", "idslug"), ("%D0%BF%D1%80", "odd"), ("%D0%BF-%D1%80-%D0%BE", "slug"),
        ("news,142489", "odd"), ("v1.2", "other"),
    ],
)  # fmt: skip
def test_kinds_of_known_texts(text, kind):
    assert kind_of(text) == kind


def test_url_is_split_into_tokens():
    found = tokens_of("/news/cup.final.html/?id=5&id=7&print&x=")
    assert found is not None
    assert found.shape == Shape(2, ".html", ("id=", "id=", "", "x="))
    assert [token.text for token in found.tokens] == ["news", "cup.final", "5", "7", "print", ""]


@pytest.mark.parametrize("target", ["//", "/a//b", "/a//", "/.htaccess"])
def test_url_with_an_empty_segment_has_no_tokens(target):
    assert tokens_of(target) is None
