"""Texts that share many shingles share bands."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.missions.news.dedup.document_fingerprints import BANDS, MIN_SHARED_BANDS, bands
from tests.unit.missions.news.dedup.test_shingles import VOCABULARY, prose, reprint


def shared(one, other):
    return len(set(bands("a.org", one)) & set(bands("a.org", other)))


def test_bands_are_signed_64_bit_numbers_as_many_as_a_text_has_shingles():
    rng = random.Random(1)
    assert len(bands("a.org", prose(rng, 300))) == BANDS
    assert all(-(1 << 63) <= band < 1 << 63 for band in bands("a.org", prose(rng, 300)))
    assert [len(bands("a.org", ["word"] * count)) for count in range(7)] == [0, 1, 1, 1, 1, 1, 1]
    assert len(bands("a.org", prose(rng, 7))) <= 3


def test_reprint_with_small_edits_shares_enough_bands():
    rng = random.Random(2)
    for _ in range(300):
        text = prose(rng, rng.randrange(150, 400))
        assert shared(text, reprint(rng, text, rng.randrange(1, 6))) >= MIN_SHARED_BANDS


def test_excerpt_shares_as_many_bands_as_shingles():
    rng = random.Random(3)
    counts = []
    for _ in range(200):
        text = prose(rng, 400)
        counts.append(shared(text, text[:240]))
    assert 0.55 * BANDS < sum(counts) / len(counts) < 0.65 * BANDS
    assert sum(count >= MIN_SHARED_BANDS for count in counts) > 0.99 * len(counts)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(VOCABULARY[:20]), min_size=5, max_size=30))
def test_text_that_is_repeated_adds_only_the_shingles_at_the_seams(text):
    twice, often = bands("a.org", text * 2), bands("a.org", text * 3)
    assert twice == often
