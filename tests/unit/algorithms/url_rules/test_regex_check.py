"""The check of expressions: what could take for ever is refused, with the reason."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.algorithms.url_rules.regex_check import REGEX_MAX, check_regex
from crawlers.errors import ConfigError


@pytest.mark.parametrize(
    "regex",
    [
        "/news/.*",
        "^/(?:news|politics)/[^/?]*-[^/?]*/?$",
        r"/\d{4}/\d\d/\d\d/[\w-]+/",
        r"/story\.php\?(?:.*&)?id=[0-9]+",
        "(/news)?/[0-9]{2}/(?:[0-9]{2}/)+[^]/]+",
        "/(?:a/.*|b/.*|c/.*|d/.*)",
        "(?i:/News/)(?!page/)[^/?]+",
        "/" + "x?" * 40,
        r"/[^/?]*\.html|/article[0-9]+",
    ],
)
def test_what_people_write_passes(regex: str) -> None:
    check_regex(regex)


@pytest.mark.parametrize(
    ("regex", "why"),
    [
        ("/[a-", "is no regular expression"),
        ("/a)|(?:/b", "is no regular expression"),
        ("(?i)/news", "is no regular expression"),
        ("x" * (REGEX_MAX + 1), "at most 500"),
        ("/([a-z]+)+/", "repeats what has repetitions"),
        ("/(?:[a-z]*-?)*/", "repeats what has repetitions"),
        ("/(?:a|ab)*c", "repeats what has repetitions or alternatives"),
        ("((?:a?){9}){9}b", "repeats what has repetitions"),
        ("(?!(?:a+)+b)/.*", "repeats what has repetitions"),
        (".*/.*-.*", "has 3 repetitions"),
        ("/(?=.*a.*b.*c)x", "has 3 repetitions"),
        ("[0-9]*[0-9]*[0-9]*x", "has 3 repetitions"),
        ("a{1,99}a{1,99}a{1,99}b", "has 3 repetitions"),
        ("(?i:[a-z]*[A-Z]*[a-z]*)1", "has 3 repetitions"),
        (r"/(.)/\1", "is a reference"),
        ("/(?P<id>[0-9]+)", "has a group with a name"),
        ("(?:a*|b)?(?:c*|d)?" * 4, "too many alternatives"),
    ],
)
def test_what_is_refused_says_why(regex: str, why: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(why)):
        check_regex(regex)


pieces = st.sampled_from(
    ["a", ".", "[^/]", "[ab]", r"\d", "/", "-", "(?:", "(", ")", "|", "*", "+", "?", "{2}", "{2,}", "^"]
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(pieces, max_size=12).map("".join))
def test_what_passes_comes_to_an_end_with_texts_made_to_delay_it(text: str) -> None:
    try:
        check_regex(text)
    except ConfigError:
        return
    for letter in "/a-1":
        re.compile(text).fullmatch(letter * 300 + "!")
