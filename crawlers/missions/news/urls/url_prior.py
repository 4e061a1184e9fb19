"""The probability that a URL is an article, whatever the rules of its site say.

A logistic model of the features of URLs. Its weights have two parts, which add up: those that come with the project
(`url_prior.json`, made by `bench.news.url_prior`), and those learnt from the labelled pages of the site.

A feature is a short text. Most describe the form of a URL and mean the same on every site: kinds of segments, numbers
of words, lengths of numbers, words for lists. The others are directories, names of parameters, and extensions: a site
has few, and they mean something where they were learnt.
"""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from crawlers.missions.news.urls.url_tokens import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping

OF_URLS = "missions/news/urls/url_prior.json"  # the shipped weights
OF_WORDS = "missions/news/urls/url_words.json"
MAX_CHARS = 500  # of a path and query; the rest of a longer one does not count
MAX_WORD = 24  # letters of a word that is a feature
_SEGMENTS = 8  # directories that count, from the front
_CACHED = 20_000  # directories whose features are kept, some 0.5 KB each

_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+|%[0-9A-Fa-f%]+")
_HEX = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}", re.I)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I)

# Words for kinds of pages, in the languages of the web; they are features of whole segments, parameters, and of the
# first and the last word of a title. A word counts for the first of the kinds that it is listed for.
_GROUPS: dict[str, str] = json.loads(files("crawlers").joinpath(OF_WORDS).read_text("utf-8"))
GROUP_OF = {word: group for group, words in reversed(_GROUPS.items()) for word in words.split()}


class _Directory(NamedTuple):
    """The part of a path before its last segment."""

    features: tuple[str, ...]
    last_kind: str


def features_of(target: str) -> tuple[str, ...]:
    """Return the features of *target*, the path and query of a URL, each once; in a fixed order.

    >>> [one for one in features_of("/tag/storm") if ":" in one and one[:2] in ("dg", "n:")]
    ['dg:tag', 'n:1']
    """
    path, mark, query = target[:MAX_CHARS].partition("?")
    slash = path.endswith("/")
    directory, _, last = path.rstrip("/").rpartition("/")
    before = _directory(directory)
    found = [*before.features, *_of_last(last.lower(), before.last_kind)]
    if slash:
        found.append("slash")
    if mark:
        found += _of_query(query.lower())
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=_CACHED)
def _directory(path: str) -> _Directory:
    segments = path.lower().split("/")[1 : _SEGMENTS + 1]
    kinds = [_kind(segment) for segment in segments]
    found = [f"depth:{len(segments)}", *(f"d:{kind}" for kind in kinds)]
    dates = sum(kind in ("year", "day", "date", "date8") for kind in kinds)
    if "year" in kinds or "date" in kinds or "date8" in kinds:
        found.append(f"dated:{min(dates, 3)}")
    for segment in segments:
        group = GROUP_OF.get(segment)
        if group is not None:
            found.append(f"dg:{group}")
        if len(segment) <= MAX_WORD and not _DIGITS.search(segment):
            found.append(f"w:{segment}")
    if kinds:
        found.append(f"first:{kinds[0]}")
    return _Directory(tuple(found), kinds[-1] if kinds else "root")


def _of_last(last: str, before: str) -> list[str]:
    """Return the features of the last segment; *before* is the kind of the one before it."""
    stem, dot, extension = last.rpartition(".")
    if dot and stem and len(extension) <= 5:
        last, suffix = stem, [f"ext:{extension}"]
    else:
        suffix = []
    kind = _kind(last)
    words = _WORD.findall(last)
    numbers = _DIGITS.findall(last)
    longest = max(map(len, numbers), default=0)
    count = min(len(words), 8)
    digits = min(longest, 8)
    found = [
        f"l:{kind}",
        f"n:{count}",
        f"digits:{digits}",
        f"b:{before}|{kind}",
        f"nd:{min(count, 5)}|{min(digits, 6)}",
    ]
    found += suffix
    for place in {0, len(words) - 1} if words else ():
        group = GROUP_OF.get(words[place])
        if group is not None:
            found.append(f"lg:{group}|{'one' if count == 1 else 'first' if place == 0 else 'last'}")
    return found


def _of_query(query: str) -> list[str]:
    """Return the features of the parameters of a URL."""
    parameters = query.split("&")[:_SEGMENTS]
    found = [f"q:{min(len(parameters), 3)}"]
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        group = GROUP_OF.get(name)
        if group is not None:
            found.append(f"qg:{group}")
        if len(name) <= MAX_WORD:
            found.append(f"q:{name}")
        found.append(f"qk:{_kind(value)}")
        if (named := GROUP_OF.get(value)) is not None:
            found.append(f"qg:{named}")
    return found


def _kind(text: str) -> str:
    if _UUID.search(text):
        return "uuid"
    if _HEX.fullmatch(text):
        return "hex"
    if len(text) > 200:
        return "long"
    kind = kind_of(text)
    return "long-number" if kind == "number" and len(text) >= 5 else kind


STEP = 2.0  # how far a label of an unexpected kind moves the log-odds of a URL with its features
MAX_OWN = 5_000  # features of a domain, some 0.6 MB; real ones have up to 300 in their first 600 URLs
_MAX_ODDS = 8.0
_LEAST = 0.02


def log_odds(probability: float) -> float:
    """Return the log-odds of a *probability*, at least 0.02 and at most 0.98: no model is surer."""
    bounded = max(_LEAST, min(1.0 - _LEAST, probability))
    return math.log(bounded / (1.0 - bounded))


def probability_of(odds: float) -> float:
    """Return the probability of log-odds *odds*.

    >>> probability_of(0.0)
    0.5
    """
    return 1.0 / (1.0 + math.exp(-odds))


class UrlPrior:
    """A model with *weights* by feature ("": the constant), which adapts to the one domain whose labels it is given.

    The result depends on the labels and their order, and nothing else. It learns the first `MAX_OWN` features.

    Notes
    -----
    A label changes the weights of its features by a step of stochastic gradient descent, divided by their number, so
    that URLs with many features don't learn faster. It takes as long as a query: a dozen look-ups.

    References
    ----------
    .. [1] Bottou (2010), Large-Scale Machine Learning with Stochastic Gradient Descent.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = weights
        self._own: dict[str, float] = {}  # what labels added to them

    def probability(self, target: str) -> float:
        """Return the probability that *target*, a path and query, is an article."""
        return probability_of(self.odds(target))

    def odds(self, target: str) -> float:
        """Return the log-odds that *target*, a path and query, is an article, from -8 to 8."""
        return self._odds(features_of(target))

    def label(self, target: str, is_article: bool) -> None:
        """Learn from the label of *target*."""
        features = features_of(target)
        error = (is_article - probability_of(self._odds(features))) / len(features)
        for feature in features:
            if feature in self._own or len(self._own) < MAX_OWN:
                self._own[feature] = self._own.get(feature, 0.0) + STEP * error

    def _odds(self, features: tuple[str, ...]) -> float:
        shipped, own = self._weights, self._own
        odds = shipped[""] + sum(shipped.get(feature, 0.0) + own.get(feature, 0.0) for feature in features)
        return max(-_MAX_ODDS, min(_MAX_ODDS, odds))
