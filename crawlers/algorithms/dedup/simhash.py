"""Which texts are nearly the same: a fingerprint of 64 bits finds candidates, their shingles decide.

The fingerprint is made of single words: five words changed of 150 turn 5 bits of it, while they would turn 9 of one
made of shingles (three words in a row). So it finds nearly every reprint, and texts that merely use the same words.
Shingles are the stricter judge, too slow to hold a text against all others, and quick enough for a few.
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

BANDS = 4  # parts of a fingerprint that are looked up: 16 bits tell 65,536 apart, which is enough within a domain
BAND_BITS = 64 // BANDS
DOUBTED_BITS = 5  # of a band, those that a small change turns first; looked up turned as well, one or two at a time
NUMBER_WEIGHT = 2  # words: reports made from one template (weather, rates, results) differ by their numbers alone
SHINGLE_WORDS = 3
LEAST_SHARED = 0.8  # of the shingles of both: five words changed of 150 leave 0.82
LEAST_SHARED_NUMBERS = 0.5
# Of the shorter text, in the longer one, where a page itself says what it is a version of:
LEAST_HELD = 0.5  # of its shingles: menus and captions stand in one of them only
LEAST_HELD_NUMBERS = 0.8
_FINENESS = 16  # weights are whole numbers, so that no sum depends on its order

# Scripts that are written without blanks: every character counts as a word. Thai, Lao, Burmese, Khmer, Chinese and
# Japanese.
_NO_BLANKS = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_NO_BLANKS}]|[^\W_{_NO_BLANKS}]+")
_DIGIT = re.compile(r"\d")


class Simhash(NamedTuple):
    """A fingerprint, and which of its bits are the least sure."""

    value: int  # signed, 64 bits
    doubts: tuple[int, ...]  # all bits by number, the least sure first


def words(text: str) -> list[str]:
    """Return the words of *text* without case, punctuation and layout; characters where words aren't divided.

    >>> words("The “Café”, 2nd ed.\\n北京")
    ['the', 'café', '2nd', 'ed', '北', '京']
    """
    return _WORD.findall(unicodedata.normalize("NFKC", text.replace("\xad", "")).casefold())  # no soft hyphens


def simhash(words: list[str]) -> Simhash:
    """Return the fingerprint of a text of these *words*: the more words two texts share, the fewer bits differ.

    Notes
    -----
    Bit b of the fingerprint is the majority of bit b of the words' hashes. A word counts by the square root of how
    often it occurs: with plain counts "the" and "of" alone make texts of one language look alike. The share of bits
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
    """Return the keys, signed 64 bits, under which a fingerprint is kept for texts of *domain* to find."""
    seed = _seed(domain)
    return [_band(seed, place, value) for place in range(BANDS)]


def probes(domain: str, fingerprint: Simhash) -> list[int]:
    """Return the keys under which a text like that of *fingerprint* may be kept: those of `bands`, and of each band
    with one or two of its least sure bits turned.

    Notes
    -----
    Of two fingerprints that differ in three bits one band of four is equal. Bits that differ are nearly always among
    the least sure ones, so that turned bits find nearly all of what is farther.

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
    """Whether one text of these words is a reprint of the other, with small edits at most.

    At least `LEAST_SHARED` of their shingles are in both, and at least half of their numbers: a weather report in
    which all else is as it was yesterday is another report.

    >>> old = "the mayor opened a new bridge over the river on a cold monday morning before 300 guests".split()
    >>> nearly_same(old, [*old, "yesterday"]), nearly_same(old, [*old[:-2], "400", "guests"])
    (True, False)
    """
    return (
        _shared(_numbers(one), _numbers(other), spare=1) >= LEAST_SHARED_NUMBERS  # first: there are few of them
        and _shared(_shingles(one), _shingles(other)) >= LEAST_SHARED
    )


def is_version(one: list[str], other: list[str]) -> bool:
    """Whether the shorter text of these words may be cut from the longer one, as a mobile page from the whole one."""
    return (
        _held(_numbers(one), _numbers(other), spare=1) >= LEAST_HELD_NUMBERS
        and _held(_shingles(one), _shingles(other)) >= LEAST_HELD
    )


def _shared(one: set[str], other: set[str], spare: int = 0) -> float:
    """The share of both that is common (Jaccard); *spare* more are taken to be common."""
    common = len(one & other)
    return (common + spare) / max(len(one) + len(other) - common + spare, 1)


def _held(one: set[str], other: set[str], spare: int = 0) -> float:
    """The share of the smaller one that is common."""
    return (len(one & other) + spare) / max(min(len(one), len(other)) + spare, 1)


def _shingles(words: list[str]) -> set[str]:
    if len(words) < SHINGLE_WORDS:
        return {" ".join(words)}
    return set(map(" ".join, zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False)))


def _numbers(words: list[str]) -> set[str]:
    return {word for word in words if _DIGIT.search(word)}
