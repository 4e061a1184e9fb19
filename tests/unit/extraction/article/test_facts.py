from __future__ import annotations

import pytest

from crawlers.extraction.article.facts import MAX_KEYWORD, MAX_KEYWORDS, keywords, plain_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A storm", "A storm"),
        (" A\n <b>storm</b>\x00&amp; a calm ", "A storm & a calm"),
        ("&lt;p&gt;A storm&lt;/p&gt;", "A storm"),
        ("x" * 20_000, "x" * 30),
        ("", ""),
    ],
)
def test_text_is_plain_and_bounded(text, expected):
    assert plain_text(text, 30) == expected


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ([], ()),
        (["storm, sea; Storm ,, "], ("storm", "sea")),
        (["буря،море、风暴"], ("буря", "море", "风暴")),
        (["Lee, Ann", "storm", "Storm"], ("Lee, Ann", "storm")),
        (["x" * 500], ("x" * MAX_KEYWORD,)),
    ],
)
def test_keywords_are_distinct_and_bounded(declared, expected):
    assert keywords(declared) == expected
    assert len(keywords([str(number) for number in range(500)])) == MAX_KEYWORDS
