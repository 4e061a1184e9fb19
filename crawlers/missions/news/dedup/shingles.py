"""Compares texts by their shingles (three consecutive words), and by the numbers that replaced others.

References
----------
.. [1] Broder (1997), On the Resemblance and Containment of Documents.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

SHINGLE_WORDS = 3
# A reprint and its original:
MIN_REPEATED = 0.75  # of the shingles of the reprint; the rest of a follow-up is new
MIN_RETAINED = 0.55  # of the shingles of the longer one of the two
# Passages in which the two differ; texts that differ in more are made from one template:
MAX_PASSAGES = 5  # a reprint has up to five changed words
WORDS_PER_PASSAGE = 40  # in long texts
MIN_WORDS_PER_PASSAGE = 20  # in short ones
MAX_GAP = 12  # words of a gap in a template; what is replaced in longer passages is rewritten prose
# A page and the one of which it declares itself to be a version:
MIN_CONTAINED = 0.5  # of the shingles of the shorter text: menus and captions are in one of the texts only
MIN_CONTAINED_NUMBERS = 0.8

# Scripts without spaces, whose characters count as words: Thai, Lao, Burmese, Khmer, Chinese and Japanese.
_UNSPACED = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_DIGIT = re.compile(r"\d")


class _Passage(NamedTuple):
    """Words that are in no common shingle of two texts."""

    before: str  # the common shingle before, "" = none
    words: list[str]
    after: str


def words(text: str) -> list[str]:
    """Return the words of *text* without case, punctuation and layout; in scripts without spaces, the characters.

    >>> words("The “Café”, 2nd ed.\\n北京")
    ['the', 'café', '2nd', 'ed', '北', '京']
    """
    return _WORD.findall(unicodedata.normalize("NFKC", text.replace("\xad", "")).casefold())  # no soft hyphens


def nearly_same(old: list[str], new: list[str]) -> bool:
    """Return whether the *new* one of two texts of these words is a reprint of the *old* one, perhaps cut or edited.

    At least `MIN_REPEATED` of the shingles of the new text must be in the old one: a text with more news is none. And
    they must be at least `MIN_RETAINED` of those of the longer text. They may differ in few passages, see
    `MAX_PASSAGES`. Of the numbers, at most half as many may be replaced by others as are in both texts: a weather
    report that differs from yesterday's only in its numbers is a new report. Numbers in a passage that was added or
    removed, such as a date line, count as neither.

    >>> old = "the mayor opened a new bridge over the river on a cold monday morning before 300 guests".split()
    >>> nearly_same(old, ["nov", "23", "2026", *old]), nearly_same(old, [*old[:-2], "400", "guests"])
    (True, False)
    """
    ours, theirs = _shingles(old), _shingles(new)
    shared = ours & theirs
    if len(shared) < MIN_REPEATED * len(theirs) or len(shared) < MIN_RETAINED * len(ours):
        return False
    kept, before = _passages(old, shared)
    _, after = _passages(new, shared)
    if max(len(before), len(after)) > _most_passages(min(len(old), len(new))):
        return False
    return 2 * _replaced_numbers(before, after) <= len(_numbers(kept)) + 1


def is_version(one: list[str], other: list[str]) -> bool:
    """Return whether the shorter text may be an excerpt of the longer one, as a mobile page is of the complete page."""
    return (
        _containment(_numbers(one), _numbers(other), spare=1) >= MIN_CONTAINED_NUMBERS
        and _containment(_shingles(one), _shingles(other)) >= MIN_CONTAINED
    )


def _containment(one: set[str], other: set[str], spare: int = 0) -> float:
    """Return the share of the smaller set that is in the larger one, with *spare* additional common elements."""
    return (len(one & other) + spare) / max(min(len(one), len(other)) + spare, 1)


def _shingles(words: list[str]) -> set[str]:
    return set(_shingles_in_order(words))


def _shingles_in_order(words: list[str]) -> list[str]:
    if len(words) < SHINGLE_WORDS:
        return [" ".join(words)]
    return list(map(" ".join, zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False)))


def _numbers(words: Iterable[str]) -> set[str]:
    return {word for word in words if _DIGIT.search(word)}


def _most_passages(count: int) -> int:
    """Return in how many passages a reprint of *count* words may differ."""
    return max(1, min(MAX_PASSAGES, count // MIN_WORDS_PER_PASSAGE), count // WORDS_PER_PASSAGE)


def _replaced_numbers(before: list[_Passage], after: list[_Passage]) -> int:
    """Return how many numbers are in the gaps of one text and not in those of the other.

    Those of gaps in the same place, or, if numbers change places as well, the lesser number of those of all gaps.
    """
    ours, theirs = _numbers_by_place(before), _numbers_by_place(after)
    gone, new = set().union(*ours.values()), set().union(*theirs.values())
    in_place = sum(
        max(len(ours[place] - theirs[place]), len(theirs[place] - ours[place])) for place in ours.keys() & theirs.keys()
    )
    return max(in_place, min(len(gone - new), len(new - gone)))


def _numbers_by_place(passages: list[_Passage]) -> dict[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for passage in passages:
        if sum(1.0 if len(word) > 1 else 0.5 for word in passage.words) <= MAX_GAP:  # characters count half
            found.setdefault((passage.before, passage.after), set()).update(_numbers(passage.words))
    return found


def _passages(words: list[str], shared: set[str]) -> tuple[list[str], list[_Passage]]:
    """Return the words that are in *shared* shingles, and the passages between."""
    kept: list[str] = []
    between: list[_Passage] = []
    before, end = "", 0  # the last shared shingle, and where it ends
    for start, shingle in enumerate(_shingles_in_order(words)):
        if shingle in shared:
            if start > end:
                between.append(_Passage(before, words[end:start], shingle))
            kept += words[max(start, end) : start + SHINGLE_WORDS]
            before, end = shingle, start + SHINGLE_WORDS
    if end < len(words):
        between.append(_Passage(before, words[end:], ""))
    return kept, between
