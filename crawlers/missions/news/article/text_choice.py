"""Chooses the blocks of text on a page that are its article.

A logistic model gives each block the probability that it belongs to the article. Its features are the place and the
look of the block, and whether an extractor found it. The blocks with the greatest expected F1
are chosen. The weights (`text_weights.json`) are made by `bench.quality.text_choice`.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from crawlers.missions.news.article.text_blocks import COMBINING_MARKS, Kind, letters_of
from crawlers.ranking.link_features import shipped_weights

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from crawlers.missions.news.article.text_blocks import TextBlock

    Column = NDArray[np.float64]


OF_BLOCKS = "missions/news/article/text_weights.json"  # the shipped weights
_SENTENCE = 25  # characters: shorter blocks don't make their container look like an article
_SENTENCE_END = re.compile(r"[.!?…。！？؟।][\"”’»)'」』]*\s*\Z")
_COMMAS = re.compile("[,，、،]")
_MAX_BONUS = 3.0  # points of a block for its length, one for 100 characters
_SMALL, _MEDIUM, _LONG = 60, 120, 80  # characters
_PRIOR_CHARS = 20  # so that few neighbours prove little
_KEY_CHARS = 80  # that identify a block in a text which breaks its lines elsewhere
_MIN_KEY = 16  # letters of a block that isn't a line of the text
_MOST_CHARS = 200_000  # of a description that are searched: hostile ones have millions
_WORDLESS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # scripts of which each sign counts as a word
_WORD = re.compile(rf"[{_WORDLESS}]|[^\W{_WORDLESS}]+(?:[{COMBINING_MARKS}]+[^\W{_WORDLESS}]*)*")
_MOST_WORD_CHARS = 500_000  # of a page of which the words are looked at
_MAX_ODDS = 30.0


def article_blocks(blocks: Sequence[TextBlock], extracted: str, description: str = "") -> list[TextBlock]:
    """Return those of *blocks* that are the article.

    *extracted* is the text that an extractor found, *description* what structured data or meta tags say of it; both may
    be empty, incomplete or wrong.

    Notes
    -----
    The probabilities decide together: blocks are taken in the order of their probability as long as this raises the
    expected F1, weighted by length. So on a page where no block is likely, the likeliest still make a text.

    References
    ----------
    .. [1] Ye, Chai, Lee, Chieu (2012), Optimizing F-measures: A Tale of Two Approaches.
    """
    if not blocks:
        return []
    columns = features(blocks, extracted, description)
    weights: Mapping[str, float] = shipped_weights(OF_BLOCKS)
    odds = np.full(len(blocks), weights[""])
    for name, weight in weights.items():
        if name:
            odds += weight * columns[name]
    p = 1.0 / (1.0 + np.exp(-np.clip(odds, -_MAX_ODDS, _MAX_ODDS)))
    return [block for block, is_chosen in zip(blocks, best_set(p, _lengths(blocks)), strict=True) if is_chosen]


def best_set(p: Column, lengths: Column) -> NDArray[np.bool_]:
    """Return which blocks, with the probabilities *p*, make the set with the greatest expected F1.

    >>> best_set(np.array([0.9, 0.2, 0.8]), np.ones(3)).tolist()
    [True, False, True]
    >>> best_set(np.array([0.3, 0.0, 0.2]), np.ones(3)).tolist()
    [True, False, True]
    """
    order = np.argsort(-p, kind="stable")
    right = np.cumsum((p * lengths)[order])
    f1 = 2 * right / (np.cumsum(lengths[order]) + right[-1])
    is_chosen = np.zeros(len(p), bool)
    is_chosen[order[: int(np.argmax(f1)) + 1]] = True
    return is_chosen


def features(blocks: Sequence[TextBlock], extracted: str, description: str = "") -> dict[str, Column]:
    """Return the features of *blocks* by name, from 0 to 1 each."""
    keys = [letters_of(block.text) for block in blocks]
    lengths = _lengths(blocks)
    links = np.array([block.link_chars for block in blocks]) / lengths
    voted = _found_in(keys, extracted)
    look, repetition = _look(blocks, lengths, links), _repetition(keys)
    is_slogan = repetition["occurs again"] * (1 - voted) > 0
    return {
        **look,
        **repetition,
        **_place(blocks),
        **_votes(blocks, lengths, voted),
        **_neighbours(blocks, look, voted),
        **_described(blocks, description, is_slogan),
    }


def _lengths(blocks: Sequence[TextBlock]) -> Column:
    return np.array([len(block.text) for block in blocks], float)


def _above(block: TextBlock, levels: int) -> int:
    """Return the container that is *levels* above the element of *block*; the outermost if there are fewer."""
    return block.containers[-1 - levels] if len(block.containers) > levels else block.containers[0]


def _found_in(keys: Sequence[str], text: str) -> Column:
    """Return which of *keys* are a line of *text*, or, if they are long enough, a part of it."""
    lines = [letters_of(line) for line in text.splitlines()]
    known, whole = set(lines), "".join(lines)[:_MOST_CHARS]
    if not whole:
        return np.zeros(len(keys))
    return np.array(
        [
            key in known
            or (
                len(key) >= _MIN_KEY
                and (
                    key[:_KEY_CHARS] in whole or (len(key) > 2 * _KEY_CHARS and key[_KEY_CHARS:][:_KEY_CHARS] in whole)
                )
            )
            for key in keys
        ],
        float,
    )


def _look(blocks: Sequence[TextBlock], lengths: Column, links: Column) -> dict[str, Column]:
    kinds = np.array([block.kind for block in blocks])
    tags = np.array([block.tag for block in blocks])
    is_paragraph = tags == "p"
    columns: dict[str, ArrayLike] = {
        **{kind.name.lower(): (kinds & kind) > 0 for kind in Kind},
        "short": lengths < _SMALL,
        "not long": lengths < _MEDIUM,
        "length": np.minimum(np.log1p(lengths) / 8, 1.0),
        "linked": links,
        "mostly linked": links > 0.5,
        "sentence": [_SENTENCE_END.search(block.text) is not None for block in blocks],
        "p": is_paragraph,
        "long p": is_paragraph & (lengths > _LONG) & (links < 0.3),
        "div": (tags == "div") | (tags == "section"),
        "h1": tags == "h1",
        "heading": np.isin(tags, ["h2", "h3", "h4", "h5", "h6"]),
    }
    return {name: np.asarray(column, float) for name, column in columns.items()}


def _repetition(keys: Sequence[str]) -> dict[str, Column]:
    counts = Counter(keys)
    first: dict[str, int] = {}
    for position, key in enumerate(keys):
        first.setdefault(key, position)
    return {
        "occurs again": np.array([counts[key] > 1 for key in keys], float),
        "occurred before": np.array([first[key] < position for position, key in enumerate(keys)], float),
    }


def _place(blocks: Sequence[TextBlock]) -> dict[str, Column]:
    """Return where the blocks stand: by the h1, and by the points of their containers, as in Readability."""
    headings = [number for number, block in enumerate(blocks) if block.tag == "h1"]
    chars: defaultdict[int, float] = defaultdict(float)  # by container
    linked: defaultdict[int, float] = defaultdict(float)
    points: defaultdict[int, float] = defaultdict(float)
    for block in blocks:
        length = len(block.text)
        for container in block.containers:
            chars[container] += length
            linked[container] += block.link_chars
        if length >= _SENTENCE and not block.kind & Kind.HIDDEN:
            earned = 1 + len(_COMMAS.findall(block.text)) + min(length / 100, _MAX_BONUS)
            earned *= 1 - block.link_chars / length
            points[_above(block, 1)] += earned
            points[_above(block, 2)] += earned / 2
    top = max(points, key=lambda one: points[one] * (1 - linked[one] / max(chars[one], 1)), default=0)
    best = points.get(top, 0.0) or math.inf
    parents, grandparents = (
        np.array([min(points.get(_above(block, levels), 0.0) / best, 1.0) for block in blocks]) for levels in (1, 2)
    )
    return {
        "before the h1": np.asarray(np.arange(len(blocks)) < (headings[0] if headings else 0), float),
        "points of parent": parents,
        "parent like top": np.asarray(parents > 0.2, float),
        "grandparent like top": np.asarray(grandparents > 0.2, float),
    }


def _votes(blocks: Sequence[TextBlock], lengths: Column, voted: Column) -> dict[str, Column]:
    """Return the votes of the extractor: for each block, for those like it, and before it."""
    chars = voted * lengths
    return {
        "voted": voted,
        "voted among siblings": _share_of_others([_above(block, 1) for block in blocks], voted, lengths),
        "voted around": _share_of_others([block.around for block in blocks], voted, lengths),
        "voted of this look around": _share_of_others([(block.around, block.look) for block in blocks], voted, lengths),
        "votes before": (np.cumsum(chars) - chars) / max(float(chars.sum()), 1.0),
    }


def _share_of_others(groups: Sequence[Hashable], voted: Column, lengths: Column) -> Column:
    """Return for each block the share of the other characters of its group that are voted."""
    chars: defaultdict[Hashable, float] = defaultdict(float)
    whole: defaultdict[Hashable, float] = defaultdict(float)
    for group, vote, length in zip(groups, voted.tolist(), lengths.tolist(), strict=True):
        chars[group] += vote * length
        whole[group] += length
    own = voted * lengths
    return (np.array([chars[group] for group in groups]) - own) / (
        np.array([whole[group] for group in groups]) - lengths + _PRIOR_CHARS
    )


def _neighbours(blocks: Sequence[TextBlock], look: Mapping[str, Column], voted: Column) -> dict[str, Column]:
    """Return features of the blocks before and after each block, and of those like it."""
    looks = Counter(block.look for block in blocks)
    parents = Counter(_above(block, 1) for block in blocks)
    same = np.array([one.look == other.look for one, other in pairwise(blocks)], float)
    siblings = np.array([one.containers[:-1] == other.containers[:-1] for one, other in pairwise(blocks)], float)
    return {
        "blocks of this look": np.array([min(np.log1p(looks[block.look]) / 5, 1.0) for block in blocks]),
        "blocks in the parent": np.array([min(np.log1p(parents[_above(block, 1)]) / 4, 1.0) for block in blocks]),
        "looks like the next": np.append(same, 0.0),
        "looks like the last": np.append(0.0, same),
        "sibling of the last": np.append(0.0, siblings),
        "linked, last": _of_neighbour(look["linked"], -1),
        "linked, next": _of_neighbour(look["linked"], 1),
        "item, next": _of_neighbour(look["item"], 1),
        "heading, last": _of_neighbour(look["heading"], -1),
        "heading, next": _of_neighbour(look["heading"], 1),
        "heading, after next": _of_neighbour(look["heading"], 2),
        "voted, after next": _of_neighbour(voted, 2),
    }


def _of_neighbour(column: Column, offset: int) -> Column:
    """Return the value of the block that is *offset* blocks further; 0 beyond the ends."""
    found = np.zeros(len(column))
    if abs(offset) < len(column):
        if offset > 0:
            found[:-offset] = column[offset:]
        else:
            found[-offset:] = column[:offset]
    return found


def _described(blocks: Sequence[TextBlock], description: str, is_slogan: NDArray[np.bool_]) -> dict[str, Column]:
    """Return which share of the words of each block is in the description, and how alike the two are.

    Slogans, which pages repeat and extractors leave out, don't count as described: some sites describe all pages so.
    """
    starts = [0, *accumulate(len(block.text) for block in blocks)]
    words = [_words(block.text[: max(_MOST_WORD_CHARS - at, 0)]) for block, at in zip(blocks, starts, strict=False)]
    described = _words(description[:_MOST_CHARS])
    sizes = np.array([max(len(own), 1) for own in words], float)
    common = np.array([len(own & described) for own in words], float) * ~is_slogan
    return {"in the description": common / sizes, "like the description": 2 * common / (sizes + len(described))}


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
