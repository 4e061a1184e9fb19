from __future__ import annotations

import pytest

from crawlers.extraction.article.bylines import MAX_AUTHORS, authors


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Ann Lee", ("Ann Lee",)),
        ("By Ann Lee", ("Ann Lee",)),
        ("Von Ann Lee und Bo Ek", ("Ann Lee", "Bo Ek")),
        ("Ann Lee, Bo Ek & Cy Fox", ("Ann Lee", "Bo Ek", "Cy Fox")),
        ("Ann Lee og Bo Ek", ("Ann Lee", "Bo Ek")),
        ("Ana Ruiz y Leo Paz", ("Ana Ruiz", "Leo Paz")),
        ("Grant Lee, PhD", ("Grant Lee",)),
        ("Ann Lee (ann@example.test)", ("Ann Lee",)),
        ("<a href='/x'>Ann&nbsp;Lee</a>", ("Ann Lee",)),
        ("https://social.test/ann", ()),
        ("@ann", ()),
        ("admin", ()),
        ("105092", ()),
        ("Nicolas Ruiz C.", ("Nicolas Ruiz C.",)),
        ("Byron Vonnegut", ("Byron Vonnegut",)),
        ("牛镛、岳弘彬", ("牛镛", "岳弘彬")),
        ("x" * 200, ()),
    ],
)
def test_names_are_extracted_from_bylines(said, expected):
    assert authors([[said]], []) == expected


def test_first_source_with_persons_is_used():
    assert authors([["@ann"], ["Ann Lee"], ["Bo Ek"]], []) == ("Ann Lee",)


def test_site_is_the_author_only_if_there_is_no_other():
    assert authors([["The Post"], ["Bo Ek"]], ["the post"]) == ("Bo Ek",)
    assert authors([["The Post"], ["Staff"]], ["the post"]) == ("The Post",)


def test_names_are_unique_and_bounded():
    assert authors([["Ann Lee", "ann lee"]], []) == ("Ann Lee",)
    assert len(authors([[f"Ann L{'e' * n}" for n in range(50)]], [])) == MAX_AUTHORS
