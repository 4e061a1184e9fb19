"""Simhashes of texts, the bands that find candidates, and the comparison that decides."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.algorithms.dedup.simhash import (
    bands,
    distance,
    is_version,
    nearly_same,
    probes,
    simhash,
    words,
)

VOCABULARY = [
    f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "or", "ee", "ul", "im") for c in ("n", "st", "ry", "po", "l")
]
FREQUENT = ["the", "of", "and", "to", "in", "a"]


def prose(rng: random.Random, count: int) -> list[str]:
    """Return words as in natural text: every third one is frequent, and some are numbers."""
    return [
        rng.choice(FREQUENT) if rng.random() < 0.35 else str(rng.randrange(2000)) if rng.random() < 0.02
        else rng.choice(VOCABULARY) + rng.choice(VOCABULARY)
        for _ in range(count)
    ]  # fmt: skip


def reprint(rng: random.Random, text: list[str], edits: int) -> list[str]:
    text = list(text)
    for _ in range(edits):
        place = rng.randrange(len(text))
        text[place : place + rng.randrange(2)] = [rng.choice(VOCABULARY)] * rng.randrange(2)
    return text


def weather(rng: random.Random, template: list[str]) -> list[str]:
    """Return the report of one day: every seventh word is a number."""
    return [str(rng.randrange(-30, 40)) if place % 7 == 0 else word for place, word in enumerate(template)]


def test_words_ignore_case_punctuation_and_layout():
    assert words("  “Don’t” –\n\tSTOP, soft\xadhyphen… ﬁne") == ["don", "t", "stop", "softhyphen", "fine"]


@pytest.mark.parametrize("text", ["北京是中国的首都", "กรุงเทพ", "ភាសាខ្មែរ"])
def test_scripts_without_spaces_are_divided_into_characters(text):
    assert all(len(word) == 1 for word in words(text))
    assert len(words(text)) >= 5


def test_fingerprint_is_a_signed_64_bit_number_with_all_bits_ranked_by_doubt():
    fingerprint = simhash(["one"])
    assert -(1 << 63) <= fingerprint.value < 1 << 63
    assert sorted(fingerprint.least_certain) == list(range(64))
    assert simhash([]).value == 0


@settings(max_examples=30)
@given(st.lists(st.text(max_size=5), max_size=30), st.randoms(use_true_random=False))
def test_fingerprint_does_not_depend_on_the_order_of_words(some, rng):
    mixed = list(some)
    rng.shuffle(mixed)
    assert simhash(mixed) == simhash(some)


def test_bits_in_most_doubt_are_those_that_change():
    rng = random.Random(1)
    places = []
    for _ in range(50):
        text = prose(rng, 200)
        old, new = simhash(text), simhash(reprint(rng, text, 3))
        places += [old.least_certain.index(bit) for bit in range(64) if (old.value ^ new.value) >> bit & 1]
    assert len(places) > 50
    assert sum(place < 16 for place in places) > 0.9 * len(places)


def test_every_reprint_with_small_edits_is_found_and_confirmed():
    rng = random.Random(2)
    for _ in range(300):
        text = prose(rng, rng.randrange(150, 400))
        copy = reprint(rng, text, rng.randrange(1, 6))
        old, new = simhash(text), simhash(copy)
        assert distance(old.value, new.value) <= 12
        assert set(bands("a.org", old.value)) & set(probes("a.org", new))
        assert nearly_same(text, copy)


def test_different_texts_in_one_language_are_far_apart():
    rng = random.Random(3)
    fingerprint = [simhash(prose(rng, 300)).value for _ in range(100)]
    assert min(distance(a, b) for a in fingerprint for b in fingerprint if a != b) > 12


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


def test_shortened_page_is_a_version_of_the_text_and_another_text_is_not():
    rng = random.Random(6)
    text, other = prose(rng, 300), prose(rng, 300)
    assert is_version(text[:100], text)
    assert is_version(text, text[:100])
    assert not is_version(text, other)
    assert not nearly_same(text, text[:100])


def test_fingerprints_of_other_domains_share_no_band():
    fingerprint = simhash(prose(random.Random(7), 100))
    assert not set(bands("a.org", fingerprint.value)) & set(probes("b.org", fingerprint))
    assert set(bands("a.org", fingerprint.value)) <= set(probes("a.org", fingerprint))


@settings(max_examples=40)
@given(st.lists(st.sampled_from(VOCABULARY[:20]), max_size=12), st.lists(st.sampled_from(VOCABULARY[:20]), max_size=12))
def test_comparison_is_symmetric_and_reflexive(one, other):
    assert nearly_same(one, one)
    assert is_version(one, one)
    assert nearly_same(one, other) == nearly_same(other, one)
    assert is_version(one, other) == is_version(other, one)


@settings(max_examples=40)
@given(*[st.integers(-(1 << 63), (1 << 63) - 1)] * 3)
def test_distance_is_a_metric(a, b, c):
    assert distance(a, a) == 0
    assert distance(a, b) == distance(b, a)
    assert distance(a, c) <= distance(a, b) + distance(b, c)
