"""Chooses the blocks of text on a page that are its article.

A logistic model gives each block the probability that it belongs to the article: by the place and the look of the
block, and then, with other weights, also by the first probabilities of the blocks like it and around it. The blocks
with the greatest expected F1 are chosen. The weights (`text_weights.json`) are made by `bench.quality.text_choice`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from crawlers.missions.news.article.text_blocks import COMBINING_MARKS, Kind
from crawlers.ranking.link_features import shipped_weights

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from crawlers.missions.news.article.text_blocks import TextBlock

    Column = NDArray[np.float64]


OF_BLOCKS = "missions/news/article/text_weights.json"  # the shipped weights
_SENTENCE_END = re.compile(r"[.!?…。！？؟।][\"”’»)'」』]*\s*\Z")
_MEDIUM = 120  # characters
_PRIOR_CHARS = 20  # so that few neighbours prove little
_MOST_CHARS = 200_000  # of a description that are searched: hostile ones have millions
_WORDLESS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # scripts of which each sign counts as a word
_WORD = re.compile(rf"[{_WORDLESS}]|[^\W{_WORDLESS}]+(?:[{COMBINING_MARKS}]+[^\W{_WORDLESS}]*)*")
_MOST_WORD_CHARS = 500_000  # of a page of which the words are looked at
_MAX_ODDS = 30.0


def article_blocks(blocks: Sequence[TextBlock], description: str = "") -> list[TextBlock]:
    """Return those of *blocks* that are the article.

    *description* is what structured data or meta tags say of it; it may be empty, incomplete or wrong.

    Notes
    -----
    The probabilities decide together: blocks are taken in the order of their probability as long as this raises the
    expected F1, weighted by length. So on a page where no block is likely, the likeliest still make a text.

    References
    ----------
    .. [1] Ye, Chai, Lee, Chieu (2012), Optimizing F-measures: A Tale of Two Approaches.
    .. [2] Cohen, Carvalho (2005), Stacked Sequential Learning.
    """
    if not blocks:
        return []
    weights = shipped_weights(OF_BLOCKS)
    columns = features(blocks, description)
    columns |= votes(blocks, probabilities(columns, weights["first"]))
    is_chosen = best_set(probabilities(columns, weights["second"]), lengths_of(blocks))
    return [block for block, is_part in zip(blocks, is_chosen, strict=True) if is_part]


def probabilities(columns: Mapping[str, Column], weights: Mapping[str, float]) -> Column:
    """Return the probability of each block by the *weights* of its features; "" is the constant."""
    odds = weights[""] + sum(weight * columns[name] for name, weight in weights.items() if name)
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -_MAX_ODDS, _MAX_ODDS))))


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


def features(blocks: Sequence[TextBlock], description: str = "") -> dict[str, Column]:
    """Return the features of *blocks* by name, from 0 to 1 each."""
    look = _look(blocks)
    return {
        **look,
        **_neighbours(blocks, look),
        **_described(blocks, description),
    }


def votes(blocks: Sequence[TextBlock], first: Column) -> dict[str, Column]:
    """Return what the *first* probabilities say: those of the blocks like each block, before it and near it."""
    lengths = lengths_of(blocks)
    chars = first * lengths
    parents, grandparents = ([_above(block, levels) for block in blocks] for levels in (1, 2))
    return {
        "first, around": _share_of_others([block.around for block in blocks], chars, lengths),
        "first, of this look around": _share_of_others([(one.around, one.look) for one in blocks], chars, lengths),
        "first, of all in the parent": _sums(parents, chars) / max(float(chars.sum()), 1.0),
        "first, of all in the grandparent": _sums(grandparents, chars) / max(float(chars.sum()), 1.0),
        "first, before": (np.cumsum(chars) - chars) / max(float(chars.sum()), 1.0),
        "first, last": _of_neighbour(first, -1),
    }


def _sums(groups: Sequence[Hashable], column: Column) -> Column:
    """Return for each block the sum of *column* over its group."""
    sums: defaultdict[Hashable, float] = defaultdict(float)
    for group, value in zip(groups, column.tolist(), strict=True):
        sums[group] += value
    return np.array([sums[group] for group in groups])


def _share_of_others(groups: Sequence[Hashable], chars: Column, lengths: Column) -> Column:
    """Return for each block the share of likely *chars* in the other blocks of its group."""
    return (_sums(groups, chars) - chars) / (_sums(groups, lengths) - lengths + _PRIOR_CHARS)


def lengths_of(blocks: Sequence[TextBlock]) -> Column:
    """Return the numbers of characters of *blocks*."""
    return np.array([len(block.text) for block in blocks], float)


def _above(block: TextBlock, levels: int) -> int:
    """Return the container that is *levels* above the element of *block*; the outermost if there are fewer."""
    return block.containers[-1 - levels] if len(block.containers) > levels else block.containers[0]


def _look(blocks: Sequence[TextBlock]) -> dict[str, Column]:
    lengths = lengths_of(blocks)
    links = np.array([block.link_chars for block in blocks]) / lengths
    kinds = np.array([block.kind for block in blocks])
    tags = np.array([block.tag for block in blocks])
    columns: dict[str, ArrayLike] = {
        **{kind.name.lower(): (kinds & kind) > 0 for kind in Kind},
        "not long": lengths < _MEDIUM,
        "length": np.minimum(np.log1p(lengths) / 8, 1.0),
        "linked": links,
        "sentence": [_SENTENCE_END.search(block.text) is not None for block in blocks],
        "p": tags == "p",
        "h1": tags == "h1",
        "heading": np.isin(tags, ["h2", "h3", "h4", "h5", "h6"]),
    }
    return {name: np.asarray(column, float) for name, column in columns.items()}


def _neighbours(blocks: Sequence[TextBlock], look: Mapping[str, Column]) -> dict[str, Column]:
    """Return features of the blocks before and after each block, and of those like it."""
    looks = Counter(block.look for block in blocks)
    parents = Counter(_above(block, 1) for block in blocks)
    same = np.array([one.look == other.look for one, other in pairwise(blocks)], float)
    heading = next((number for number, block in enumerate(blocks) if block.tag == "h1"), 0)
    siblings = np.array([one.containers[:-1] == other.containers[:-1] for one, other in pairwise(blocks)], float)
    return {
        "before the h1": np.asarray(np.arange(len(blocks)) < heading, float),
        "blocks of this look": np.array([min(np.log1p(looks[block.look]) / 5, 1.0) for block in blocks]),
        "blocks in the parent": np.array([min(np.log1p(parents[_above(block, 1)]) / 4, 1.0) for block in blocks]),
        "looks like the next": np.append(same, 0.0),
        "looks like the last": np.append(0.0, same),
        "sibling of the last": np.append(0.0, siblings),
        "linked, last": _of_neighbour(look["linked"], -1),
        "linked, next": _of_neighbour(look["linked"], 1),
        "item, next": _of_neighbour(look["item"], 1),
        "heading, next": _of_neighbour(look["heading"], 1),
    }


def _of_neighbour(column: Column, offset: int) -> Column:
    """Return the value of the next block (*offset* 1) or the last one (-1); 0 beyond the ends."""
    padded = np.pad(column, 1)
    return padded[2:] if offset > 0 else padded[:-2]


def _described(blocks: Sequence[TextBlock], description: str) -> dict[str, Column]:
    """Return how alike each block and the description are in words.

    Slogans, which pages repeat, don't count as described: some sites describe all pages so.
    """
    starts = [0, *accumulate(len(block.text) for block in blocks)]
    words = [_words(block.text[: max(_MOST_WORD_CHARS - at, 0)]) for block, at in zip(blocks, starts, strict=False)]
    described = _words(description[:_MOST_CHARS])
    sizes = np.array([max(len(own), 1) for own in words], float)
    occurrences = Counter(block.text for block in blocks)
    is_slogan = np.array([occurrences[block.text] > 1 for block in blocks], float)
    common = np.array([len(own & described) for own in words], float) * (1 - is_slogan)
    return {
        "like the description": 2 * common / (sizes + len(described)),
        "occurs again": is_slogan,
    }


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
