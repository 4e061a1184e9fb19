"""Detects nearly equal texts: a fingerprint of 64 bits finds candidates, their shingles decide.

The fingerprint is based on single words: changing five words of 150 flips 5 bits, with shingles (three consecutive
words) 9. So it finds nearly every reprint, but also texts that merely use the same words. Comparing shingles is
stricter, too slow for all texts, and fast enough for a few candidates.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import chain, combinations, starmap
from math import sqrt
from operator import or_
from struct import pack
from typing import NamedTuple

import numpy as np
import xxhash

from crawlers.algorithms.urls.keys import signed

BANDS = 4  # parts of a fingerprint used for look-ups: 16 bits distinguish 65,536 texts, enough within a domain
BAND_BITS = 64 // BANDS
DOUBTED_BITS = 5  # bits of a band that small changes flip first; flipped for look-ups, one or two at a time
NUMBER_WEIGHT = 2  # words: reports from one template (weather, rates, results) differ only in numbers
SHINGLE_WORDS = 3
LEAST_SHARED = 0.8  # of the shingles of both: changing five words of 150 leaves 0.82
LEAST_SHARED_NUMBERS = 0.5
# Of the shorter text, in the longer one, if a page declares itself a version of another:
LEAST_HELD = 0.5  # of its shingles: menus and captions are in one of them only
LEAST_HELD_NUMBERS = 0.8
_FINENESS = 16  # weights are integers, so that sums do not depend on their order

# Scripts without spaces, whose characters count as words: Thai, Lao, Burmese, Khmer, Chinese and Japanese.
_NO_BLANKS = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_NO_BLANKS}]|[^\W_{_NO_BLANKS}]+")
_DIGIT = re.compile(r"\d")


class Simhash(NamedTuple):
    """A fingerprint, and its bits by certainty."""

    value: int  # signed, 64 bits
    doubts: tuple[int, ...]  # all bits by number, the least certain first


def words(text: str) -> list[str]:
    """Return the words of *text* without case, punctuation and layout; characters for scripts without spaces.

    >>> words("The “Café”, 2nd ed.\\n北京")
    ['the', 'café', '2nd', 'ed', '北', '京']
    """
    return _WORD.findall(unicodedata.normalize("NFKC", text.replace("\xad", "")).casefold())  # no soft hyphens


def simhash(words: list[str]) -> Simhash:
    """Return the fingerprint of a text with these *words*: the more words two texts share, the fewer bits differ.

    Notes
    -----
    Bit b of the fingerprint is the majority of bit b of the words' hashes. The weight of a word is the square root of
    its frequency: with plain counts "the" and "of" alone make texts of one language similar. The share of bits
    that differ estimates the angle between the texts as vectors, divided by pi.

    References
    ----------
    .. [1] Charikar (2002), Similarity estimation techniques from rounding algorithms, section 3.
    .. [2] Manku, Jain, Sarma (2007), Detecting near-duplicates for web crawling.
    """
    counts = Counter(words)
    digests = b"".join([xxhash.xxh3_64_digest(word.encode("utf-8", "surrogatepass")) for word in counts])
    bits = np.unpackbits(np.frombuffer(digests, dtype=np.uint8).reshape(len(counts), 8), axis=1).astype(np.int64)
    weights = np.array([_weight(word, times) for word, times in counts.items()], dtype=np.int64)
    majority = 2 * (weights @ bits) - weights.sum()
    value = int.from_bytes(np.packbits(majority > 0).tobytes())
    doubts = 63 - np.argsort(np.abs(majority), kind="stable")  # the bits were unpacked from the highest to the lowest
    return Simhash(signed(value), tuple(doubts.tolist()))


def _weight(word: str, times: int) -> int:
    return round(_FINENESS * sqrt(times)) * (NUMBER_WEIGHT if _DIGIT.search(word) else 1)


def distance(one: int, other: int) -> int:
    """Return how many bits of two fingerprints differ.

    >>> distance(0b1011, 0b0010), distance(-1, 0)
    (2, 64)
    """
    return ((one ^ other) & 0xFFFF_FFFF_FFFF_FFFF).bit_count()


def bands(domain: str, value: int) -> list[int]:
    """Return the signed 64-bit keys under which a fingerprint of *domain* is stored."""
    seed = _seed(domain)
    return [_band(seed, place, value) for place in range(BANDS)]


def probes(domain: str, fingerprint: Simhash) -> list[int]:
    """Return the keys under which similar texts may be stored: those of `bands`, and of each band with one or two of
    its least certain bits flipped.

    Notes
    -----
    If two fingerprints differ in three bits, one of four bands is equal. Differing bits are nearly always among the
    least certain ones, so that flipping those finds nearly all texts that are farther.

    References
    ----------
    .. [1] Lv, Josephson, Wang, Charikar, Li (2007), Multi-probe LSH, section 4.
    """
    seed = _seed(domain)
    keys = []
    for place in range(BANDS):
        doubted = [1 << bit for bit in fingerprint.doubts if bit // BAND_BITS == place][:DOUBTED_BITS]
        turns = chain([0], doubted, starmap(or_, combinations(doubted, 2)))
        keys += [_band(seed, place, fingerprint.value ^ turn) for turn in turns]
    return keys


def _seed(domain: str) -> int:
    return xxhash.xxh3_64_intdigest(domain.encode("utf-8", "surrogatepass"))


def _band(seed: int, place: int, value: int) -> int:
    part = value >> place * BAND_BITS & (1 << BAND_BITS) - 1
    return signed(xxhash.xxh3_64_intdigest(pack("<BH", place, part), seed))


def nearly_same(one: list[str], other: list[str]) -> bool:
    """Return whether one text of these words is a reprint of the other, with small edits at most.

    At least `LEAST_SHARED` of their shingles, and at least half of their numbers, must be in both: a weather report in
    which only the numbers differ from yesterday's is a new report.

    >>> old = "the mayor opened a new bridge over the river on a cold monday morning before 300 guests".split()
    >>> nearly_same(old, [*old, "yesterday"]), nearly_same(old, [*old[:-2], "400", "guests"])
    (True, False)
    """
    return (
        _shared(_numbers(one), _numbers(other), spare=1) >= LEAST_SHARED_NUMBERS  # first, because there are few
        and _shared(_shingles(one), _shingles(other)) >= LEAST_SHARED
    )


def is_version(one: list[str], other: list[str]) -> bool:
    """Return whether the shorter text may be an excerpt of the longer one, like a mobile page of the complete one."""
    return (
        _held(_numbers(one), _numbers(other), spare=1) >= LEAST_HELD_NUMBERS
        and _held(_shingles(one), _shingles(other)) >= LEAST_HELD
    )


def _shared(one: set[str], other: set[str], spare: int = 0) -> float:
    """Return the share of both that is common (Jaccard), with *spare* more counted as common."""
    common = len(one & other)
    return (common + spare) / max(len(one) + len(other) - common + spare, 1)


def _held(one: set[str], other: set[str], spare: int = 0) -> float:
    """Return the share of the smaller set that is common."""
    return (len(one & other) + spare) / max(min(len(one), len(other)) + spare, 1)


def _shingles(words: list[str]) -> set[str]:
    if len(words) < SHINGLE_WORDS:
        return {" ".join(words)}
    return set(map(" ".join, zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False)))


def _numbers(words: list[str]) -> set[str]:
    return {word for word in words if _DIGIT.search(word)}
