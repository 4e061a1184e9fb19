"""Finds texts that may be near-duplicates: a few hashes of a text, of which similar texts share some.

References
----------
.. [1] Broder (1997), On the Resemblance and Containment of Documents.
.. [2] Li, Owen, Zhang (2012), One Permutation Hashing, sections 2 and 3.
"""

from __future__ import annotations

from struct import pack

import numpy as np
import xxhash

from crawlers.urls.keys import signed

BANDS = 12
MIN_SHARED_BANDS = 2  # of near-duplicates; if they share half of their shingles, with a probability of 0.997
# Unrelated texts share many shingles of three words ("one of the"), but hardly any of five.
SHINGLE_WORDS = 5
_MULTIPLIER = 0x9E37_79B9_7F4A_7C15  # odd: the golden ratio times 2**64, as in Fibonacci hashing


def bands(domain: str, words: list[str]) -> tuple[int, ...]:
    """Return at most `BANDS` signed 64-bit keys of a text with these *words*, in *domain*.

    Two texts have a key in common for about as many bands as they share of all their shingles (Jaccard index).

    Notes
    -----
    All shingles are hashed once. The highest bits of a hash choose the band, and the least hash of each band is its
    key. A text of few words has no key in some bands.
    """
    hashes = np.sort(_hashes_of_shingles(words))
    borders = np.arange(BANDS, dtype=np.uint64) * np.uint64((1 << 64) // BANDS)
    places = np.searchsorted(hashes, borders)
    least = hashes[places[places < len(hashes)]]
    # An empty band has found the least hash of the next one.
    seed = xxhash.xxh3_64_intdigest(domain.encode("utf-8", "surrogatepass"))
    return tuple(signed(xxhash.xxh3_64_intdigest(pack("<Q", one), seed)) for one in np.unique(least).tolist())


def _hashes_of_shingles(words: list[str]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return a 64-bit hash of each shingle: a polynomial of the hashes of its words, mixed."""
    numbers = {word: xxhash.xxh3_64_intdigest(word.encode("utf-8", "surrogatepass")) for word in set(words)}
    sequence = np.array([numbers[word] for word in words], dtype=np.uint64)
    count = min(SHINGLE_WORDS, len(words))
    hashes = np.zeros(len(words) - count + 1 if words else 0, dtype=np.uint64)
    for start in range(count):
        hashes = hashes * np.uint64(_MULTIPLIER) + sequence[start : start + len(hashes)]
    # The finaliser of MurmurHash3 by Appleby: all bits depend on all others.
    for factor in (0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53):
        hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(factor)
    return hashes ^ (hashes >> np.uint64(33))
