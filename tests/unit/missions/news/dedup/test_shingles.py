"""Copies are told from new texts by their shingles and numbers."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.missions.news.dedup.document_fingerprints import is_version, nearly_same, words

VOCABULARY = [
    f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "or", "ee", "ul", "im") for c in ("n", "st", "ry", "po", "l")
]
FREQUENT = ["the", "of", "and", "to", "in", "a"]


def prose(rng, count):
    """Return words as in natural text: every third one is frequent, and some are numbers."""
    return [
        rng.choice(FREQUENT) if rng.random() < 0.35 else str(rng.randrange(2000)) if rng.random() < 0.02
        else rng.choice(VOCABULARY) + rng.choice(VOCABULARY)
        for _ in range(count)
    ]  # fmt: skip


def prose_without_numbers(rng, count):
    return [word for word in prose(rng, 2 * count) if not word.isdigit()][:count]


def reprint(rng, text, edits):
    text = list(text)
    for _ in range(edits):
        place = rng.randrange(len(text))
        text[place : place + rng.randrange(2)] = [rng.choice(VOCABULARY)] * rng.randrange(2)
    return text


def weather(rng, template):
    """Return the report of one day: every seventh word is a number."""
    return [str(rng.randrange(-30, 40)) if place % 7 == 0 else word for place, word in enumerate(template)]


def test_words_ignore_case_punctuation_and_layout():
    assert words("  “Don’t” –\n\tSTOP, soft\xadhyphen… ﬁne") == ["don", "t", "stop", "softhyphen", "fine"]


@pytest.mark.parametrize("text", ["北京是中国的首都", "กรุงเทพ", "ភាសាខ្មែរ"])
def test_scripts_without_spaces_are_divided_into_characters(text):
    assert all(len(word) == 1 for word in words(text))
    assert len(words(text)) >= 5


def test_every_reprint_with_small_edits_is_recognised():
    rng = random.Random(2)
    for _ in range(300):
        text = prose(rng, rng.randrange(150, 400))
        copy = reprint(rng, text, rng.randrange(1, 6))
        assert nearly_same(text, copy)


def test_weather_reports_of_different_days_are_different_texts():
    rng = random.Random(4)
    template = prose(rng, 150)
    reports = [weather(rng, template) for _ in range(40)]
    assert not any(nearly_same(a, b) or is_version(a, b) for a in reports for b in reports if a is not b)


def test_reprint_may_correct_one_number_but_not_all():
    text = [*prose(random.Random(5), 200), "2024", "17", "300", "12"]
    assert nearly_same(text, [*text[:-1], "13"])
    assert nearly_same(text, [*text, "updated", "2025"])
    changed = {word: f"{word}0" for word in text if word.isdigit()}
    assert not nearly_same(text, [changed.get(word, word) for word in text])


def test_numbers_of_an_added_passage_make_no_new_text():
    text = prose_without_numbers(random.Random(8), 120)
    date_line = ["berlin", "23", "november", "2026", "10", "45"]
    assert nearly_same(text, [*date_line, *text])
    note = words("correction of 24 november 2026: an earlier version said 300 instead of 45")
    assert nearly_same(text, [*text, *note])
    assert nearly_same([*text[:60], *note, *text[60:]], text)


def test_follow_up_that_repeats_half_of_the_text_is_a_new_text():
    rng = random.Random(11)
    text, new = prose(rng, 300), prose(rng, 600)
    assert not nearly_same(text, [*new[:150], *text[:150]])
    assert not nearly_same(text, [*new[:120], *text])  # all of it, and 40 % more
    assert nearly_same([*new[:120], *text], text)  # which was known
    assert not nearly_same(text, [*text[:240], *new[:160]])  # 80 % of it, and 40 % of the result is new
    assert not nearly_same(text, [*text[150:], *new[:130]])


@pytest.mark.parametrize(("count", "words_changed"), [(150, 8), (150, 12), (300, 15), (60, 5)])
def test_texts_with_other_words_in_many_places_are_new(count, words_changed):
    text = prose_without_numbers(random.Random(14), count)
    other = list(text)
    for number in range(words_changed):
        other[count * (2 * number + 1) // (2 * words_changed)] = f"name{number}"
    assert not nearly_same(text, other)


@pytest.mark.parametrize(
    ("sentence", "phrases"),
    [
        ("In the {place} of the country and along the rivers of the plain {phrase}, {number} degrees at noon. ",
         ("partly cloudy with some showers", "bright and dry all day long")),
        ("{place}地区今天白天天气情况总体平稳{phrase}{number}度,请市民及时关注最新预报合理安排出行时间。",
         ("晴转多云", "小雨")),
    ],
)  # fmt: skip
def test_reports_with_phrases_beside_their_numbers_are_new_texts(sentence, phrases):
    def report(phrase, number):
        places = ("north", "west", "south", "east", "centre")
        return words("".join(sentence.format(place=p, phrase=phrase, number=number + n) for n, p in enumerate(places)))

    assert not nearly_same(report(phrases[0], 10), report(phrases[1], 30))


def test_shortened_page_is_a_version_of_the_text_and_another_text_is_not():
    rng = random.Random(6)
    text, other = prose(rng, 300), prose(rng, 300)
    assert is_version(text[:100], text)
    assert is_version(text, text[:100])
    assert not is_version(text, other)
    assert not nearly_same(text, text[:100])


@settings(max_examples=40)
@given(st.lists(st.sampled_from(VOCABULARY[:20]), max_size=12), st.lists(st.sampled_from(VOCABULARY[:20]), max_size=12))
def test_comparison_is_reflexive_and_that_of_versions_symmetric(one, other):
    assert nearly_same(one, one)
    assert is_version(one, one)
    assert is_version(one, other) == is_version(other, one)
