"""Detects near-duplicate texts: a 64-bit fingerprint finds candidates, then their shingles are compared.

The fingerprint is based on single words: changing five words of 150 flips 5 bits; if it were based on shingles (three
consecutive words), it would flip 9. So it finds nearly every reprint, but also texts that merely use the same words.
Comparing shingles is stricter, too slow for all texts, but fast enough for a few candidates.

References
----------
.. [1] Broder (1997), On the Resemblance and Containment of Documents.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import chain, combinations, starmap
from math import sqrt
from operator import or_
from struct import pack

import numpy as np
import xxhash

from crawlers.algorithms.urls.keys import signed
from crawlers.items import Simhash

BANDS = 4  # parts of a fingerprint used for look-ups: 16 bits distinguish 65,536 texts, enough within a domain
BAND_BITS = 64 // BANDS
PROBED_BITS = 5  # least certain bits of a band, which small changes flip first; look-ups flip one or two of them
NUMBER_WEIGHT = 2  # in words: reports made from one template (weather, rates, results) differ only in their numbers
SHINGLE_WORDS = 3
# Resemblance of two near-duplicates:
MIN_SHARED = 0.8  # of the shingles; changing five words of 150 leaves 0.82
MIN_SHARED_NUMBERS = 0.5
# Containment of the shorter text in the longer one, if a page declares itself to be a version of another:
MIN_CONTAINED = 0.5  # of the shingles: menus and captions are in one of the texts only
MIN_CONTAINED_NUMBERS = 0.8
_WEIGHT_SCALE = 16  # weights are rounded to integers, so that sums do not depend on their order

# Scripts without spaces, whose characters count as words: Thai, Lao, Burmese, Khmer, Chinese and Japanese.
_UNSPACED = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_DIGIT = re.compile(r"\d")


def words(text: str) -> list[str]:
    """Return the words of *text* without case, punctuation and layout; in scripts without spaces, the characters.

    >>> words("The “Café”, 2nd ed.\\n北京")
    ['the', 'café', '2nd', 'ed', '北', '京']
    """
    return _WORD.findall(unicodedata.normalize("NFKC", text.replace("\xad", "")).casefold())  # no soft hyphens


def simhash(words: list[str]) -> Simhash:
    """Return the fingerprint of a text with these *words*: the more words two texts share, the fewer bits differ.

    Notes
    -----
    Bit b of the fingerprint is the weighted majority of the bits b of the hashes of the words. The weight of a word is
    the square root of its frequency: with plain counts, "the" and "of" alone would make texts of one language similar.
    The share of differing bits estimates the angle between the texts as vectors, divided by pi.

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
    least_certain = 63 - np.argsort(np.abs(majority), kind="stable")  # unpackbits begins with the highest bit
    return Simhash(signed(value), tuple(least_certain.tolist()))


def _weight(word: str, times: int) -> int:
    return round(_WEIGHT_SCALE * sqrt(times)) * (NUMBER_WEIGHT if _DIGIT.search(word) else 1)


def distance(one: int, other: int) -> int:
    """Return the number of differing bits of two fingerprints (Hamming distance), from 0 to 64.

    >>> distance(0b1011, 0b0010), distance(-1, 0)
    (2, 64)
    """
    return ((one ^ other) & 0xFFFF_FFFF_FFFF_FFFF).bit_count()


def bands(domain: str, value: int) -> list[int]:
    """Return the signed 64-bit keys under which the fingerprint *value* of *domain* is stored, one per band."""
    seed = _seed(domain)
    return [_band(seed, number, value) for number in range(BANDS)]


def probes(domain: str, fingerprint: Simhash) -> list[int]:
    """Return the keys under which similar texts may be stored: those of `bands`, and of each band with one or two of
    its least certain bits flipped.

    Notes
    -----
    If two fingerprints differ in three bits, one of the four bands is equal. Differing bits are nearly always among the
    least certain ones, so flipping those also finds nearly all texts at greater distances.

    References
    ----------
    .. [1] Lv, Josephson, Wang, Charikar, Li (2007), Multi-probe LSH, section 4.
    """
    seed = _seed(domain)
    keys = []
    for number in range(BANDS):
        probed = [1 << bit for bit in fingerprint.least_certain if bit // BAND_BITS == number][:PROBED_BITS]
        flips = chain([0], probed, starmap(or_, combinations(probed, 2)))
        keys += [_band(seed, number, fingerprint.value ^ flip) for flip in flips]
    return keys


def _seed(domain: str) -> int:
    return xxhash.xxh3_64_intdigest(domain.encode("utf-8", "surrogatepass"))


def _band(seed: int, number: int, value: int) -> int:
    bits = value >> number * BAND_BITS & (1 << BAND_BITS) - 1
    return signed(xxhash.xxh3_64_intdigest(pack("<BH", number, bits), seed))


def nearly_same(one: list[str], other: list[str]) -> bool:
    """Return whether a text of these words is a reprint of the other one, with at most small edits.

    They must have at least `MIN_SHARED` of their shingles and `MIN_SHARED_NUMBERS` of their numbers in common: a
    weather report that differs from yesterday's only in its numbers is a new report.

    >>> old = "the mayor opened a new bridge over the river on a cold monday morning before 300 guests".split()
    >>> nearly_same(old, [*old, "yesterday"]), nearly_same(old, [*old[:-2], "400", "guests"])
    (True, False)
    """
    return (
        _resemblance(_numbers(one), _numbers(other), spare=1) >= MIN_SHARED_NUMBERS  # first, because there are few
        and _resemblance(_shingles(one), _shingles(other)) >= MIN_SHARED
    )


def is_version(one: list[str], other: list[str]) -> bool:
    """Return whether the shorter text may be an excerpt of the longer one, as a mobile page is of the complete page."""
    return (
        _containment(_numbers(one), _numbers(other), spare=1) >= MIN_CONTAINED_NUMBERS
        and _containment(_shingles(one), _shingles(other)) >= MIN_CONTAINED
    )


def _resemblance(one: set[str], other: set[str], spare: int = 0) -> float:
    """Return the Jaccard index of two sets, with *spare* additional common elements."""
    common = len(one & other)
    return (common + spare) / max(len(one) + len(other) - common + spare, 1)


def _containment(one: set[str], other: set[str], spare: int = 0) -> float:
    """Return the share of the smaller set that is in the larger one, with *spare* additional common elements."""
    return (len(one & other) + spare) / max(min(len(one), len(other)) + spare, 1)


def _shingles(words: list[str]) -> set[str]:
    if len(words) < SHINGLE_WORDS:
        return {" ".join(words)}
    return set(map(" ".join, zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False)))


def _numbers(words: list[str]) -> set[str]:
    return {word for word in words if _DIGIT.search(word)}
