"""The selection of URLs by expressions of RE2."""

import pytest

from crawlers.errors import ConfigError
from crawlers.urls.scope import UrlSelection


@pytest.mark.parametrize(
    ("include", "exclude", "url", "reason"),
    [
        ([], [], "http://a/x", None),
        (["/x"], [], "http://a/b/x1/", None),
        (["/x$"], [], "http://a/x/", "not_included"),
        (["^https://"], [], "http://a/https://", "not_included"),
        ([], ["[?&]sort="], "http://a/?a=1&sort=2", "excluded [?&]sort="),
        (["/x"], ["/x"], "http://a/x", "excluded /x"),
        ([], ["б"], "http://a/%D0%B1", None),
    ],
)
def test_url_is_selected_by_the_expressions_found_in_it(include, exclude, url, reason):
    assert UrlSelection(include, exclude).reason_against(url) == reason


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("/a(", "RE2 cannot parse it: missing )"),
        ("/(?!b)", "RE2 does not support lookaheads and lookbehinds; write it without them"),
        ("x{1001}", "a repetition count is invalid or above 1,000"),
    ],
)
def test_invalid_expression_is_reported_with_its_setting(expression, problem):
    with pytest.raises(ConfigError) as caught:
        UrlSelection(["/fine/"], [expression])
    assert str(caught.value).startswith(f"URL_EXCLUDE: {expression!r}: {problem}")
    with pytest.raises(ConfigError, match=r"^URL_INCLUDE: "):
        UrlSelection([expression])


def test_lookahead_of_an_include_belongs_into_url_exclude():
    with pytest.raises(ConfigError, match="lookbehinds; write what they exclude into URL_EXCLUDE"):
        UrlSelection(["/(?!b)"])


def test_expressions_that_are_too_large_are_reported():
    with pytest.raises(ConfigError, match="are too large"):
        UrlSelection([r"\pL{1,1000}" * 9])


def test_reason_is_short_however_long_the_expression_is():
    reason = UrlSelection([], ["x" * 5000 + "|b"]).reason_against("http://b/")
    assert reason is not None
    assert len(reason) < 300
