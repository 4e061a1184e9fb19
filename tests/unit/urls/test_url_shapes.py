"""URLs that grow in a loop are recognised, and similar URLs have one pattern."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.urls.trap_watch import broad_patterns, loop_of, reason_of_loop, shape_reason, url_pattern


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("http://h/" + "/".join(map(str, range(26))), "trap_segments 25"),
        ("http://h/?" + "&".join(f"p{n}=1" for n in range(21)), "trap_parameters 20"),
        ("http://h/" + "x" * 2048, "trap_length 2048"),
    ],
)
def test_url_that_grows_in_a_loop_is_recognised(url, word):
    assert word in shape_reason(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://h",
        "http://h/",
        "http://h/" + "a/" * 25,
        "http://h/a" + "/" * 30 + "b/",
        "http://h/" + "/".join(map(str, range(25))),
        "http://h/?" + "&".join(f"p{n}=/a/a/a/a/" for n in range(20)),
        "http://h/" + "x" * (2048 - 9),
    ],
)
def test_url_at_the_bound_passes(url):
    assert shape_reason(url) is None


@pytest.mark.parametrize("path", ["a/" * 4, "a/b/a/b/a/b/a/b.html?x", "x/a/1/a/2/a/3/a/4"])
def test_segment_that_occurs_four_times_is_a_loop(path):
    assert loop_of(f"http://h/{path}")[0] == "a"
    assert reason_of_loop(f"http://h/{path}") == f"trap_loop {path.count('a')}"


@pytest.mark.parametrize("path", ["", "a/" * 3, "a/" * 3 + "b/" * 3, "a//////////b/", "?u=/a/a/a/a/"])
def test_segment_that_occurs_less_often_is_none(path):
    assert reason_of_loop(f"http://h/{path}") is None


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        ("http://h", "/"),
        ("http://h/index.php?id=17", "/index.php?id=#"),
        ("http://h/2024/05/p17.html", "/#/#/p#.html"),
        ("http://h/cal?m=5&y=2024&d=1", "/cal?d=#&m=#&y=#"),
        ("http://h/x?zz=Ab3dE9xQ21", "/x?zz=~"),
        ("http://h/s/9f86d081884c7d659a2f/a", "/s/~/a"),
        ("http://h/x?u=123e4567-e89b-12d3-a456-426614174000", "/x?u=~"),
        ("http://h/x?f[12]=on&f[3]=on&flag", "/x?f[#]=on&flag"),
        ("http://h/x?f=1&f=2&f=red&f=red", "/x?f=#&f=red"),
        ("http://h/x?q=%C3%A9&v=1.5", "/x?q=*&v=*"),
        ("http://h/x?zz=a1234567&on=2024-05-01", "/x?on=*&zz=~"),
        ("http://h/facade/feedface", "/facade/feedface"),
        ("http://h/contact-information?view=month", "/contact-information?view=month"),
    ],
)
def test_pattern_replaces_numbers_and_ids(url, pattern):
    assert url_pattern(url) == pattern


def test_only_parameters_that_look_like_sessions_have_a_pattern_for_any_path():
    assert broad_patterns("/a?f=blue&f=red") == ("/a?f=*",)
    assert broad_patterns("/a?day=*") == ()
    assert broad_patterns("/a?n=#&view=month") == ("/a?n=*&view=*",)
    assert broad_patterns("/a?n=#&s=~&t=~") == ("/a?n=*&s=*&t=*", "*?s=~&t=~")


@given(st.text(st.characters(codec=None)))
def test_any_text_has_a_pattern_and_a_verdict(text):
    assert url_pattern(text).startswith("/")
    assert len(broad_patterns(url_pattern(text))) <= 2
    for reason in (shape_reason(text), reason_of_loop(text)):
        assert reason is None or reason.startswith("trap_")
