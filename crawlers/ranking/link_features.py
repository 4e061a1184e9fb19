"""The features of a link, from which `LinkValues` learns what the page behind it is worth, and the weights at first.

A link is described by texts: where it stands, its words and those of its URL. Each text is a feature, of its site only
or of all sites, and each feature a number in a table of fixed size: memory is bounded, however many sites there are.

The link prior has the weights with which `LinkValues` begins: words, levels and lengths of anchors that paid elsewhere.
Those that come with the project are from documentation of software, such as manuals and release notes, in English
(`link_prior.json`, made by `bench.harvest.link_prior`). Elsewhere little is proved; what a crawl learns soon outweighs
them; `scrapy lab learn` makes others. `shipped_weights` reads those of any model that comes with the project.
"""

from __future__ import annotations

import json
import re
from array import array
from functools import cache
from importlib.resources import files  # also works if the package is not a folder (zip)
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import unquote

import xxhash

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crawlers.items import LinkPlace

    LinkPrior: TypeAlias = Mapping[str, Mapping[str, float]]  # by kind and text of a feature

TABLE_SIZE = 1 << 22  # with 2**18, crawls of twelve sites find as much: room for thousands of sites
NONE = 0  # the id of a feature that a link does not have
ANCHOR_CHARS = 200  # that are looked at
URL_CHARS = 500  # likewise, after the host
TEXT_CHARS = 300  # of a place, a path or a group
STEM_CHARS = 5  # first letters of a word that count: changes, changed and changelog count as one word
MAX_LEVEL = 8  # deeper pages are alike
_WORDS = 4  # of an anchor or a URL that count
_NAME_WORDS = 3  # of these at most from the last segment and the query of a URL
_DIRECTORY_WORDS = 2  # and from the two segments before
LENGTHS = ("no words", "1 word", "2 to 3 words", "4 to 7 words", "8 or more words")

_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Words that say nothing about a page. They are English, because other languages have not been measured.
_STOP_TEXT = "html htm index php asp en www the of and a an to in for on is with by or as at from it this that be"
_STOP_WORDS = frozenset(_STOP_TEXT.split())


class Feature(NamedTuple):
    """One column of the features of a link."""

    kind: str
    variance: float  # of its weight before anything is known: how much such a feature may say
    is_of_site: bool  # or else means the same on all sites


FEATURES: tuple[Feature, ...] = (
    Feature("all links", 1.0, False),
    Feature("site", 1.0, True),
    Feature("group", 2.0, True),
    Feature("place", 0.3, True),
    Feature("path", 0.3, True),
    Feature("directory", 0.3, True),
    Feature("page", 0.3, True),
    *[Feature("anchor", 0.4, False)] * _WORDS,
    *[Feature("anchor on site", 0.1, True)] * _WORDS,
    *[Feature("url", 0.4, False)] * _WORDS,
    *[Feature("url on site", 0.1, True)] * _WORDS,
    Feature("anchor length", 0.02, False),
    Feature("level", 0.05, False),
)
WIDTH = len(FEATURES)
COLUMNS = {feature.kind: at for at, feature in enumerate(FEATURES)}  # of the kinds that have one column only
# The columns that have a meaning on other sites, with their kinds; and all texts of those kinds that have few.
SHARED = tuple((at, one.kind) for at, one in enumerate(FEATURES) if not one.is_of_site and one.kind != "all links")
TEXTS = {"anchor length": LENGTHS, "level": tuple(str(level) for level in range(MAX_LEVEL + 1))}
OPTIMISTIC = slice(0, 3)  # the columns whose uncertainty is a reason to try a link: all links, its site, its group


def link_features(site: str, url: str, level: int, source: int, place: LinkPlace) -> array[int]:
    """Return the ids of the features of a link, `WIDTH` numbers below `TABLE_SIZE`; `NONE` where it has none.

    *site* and *url* are absolute; *level* is that of the page behind the link; *source* the number of the page on which
    the link was found first, 0 if on none. No other id occurs twice.

    >>> from crawlers.items import LinkPlace
    >>> link_features("http://a.test", "http://a.test/x", 1, 0, LinkPlace("", "", ""))[4]
    0
    """
    found: dict[int, None] = {}
    row = array("I")
    for feature, value in zip(FEATURES, _values(site, url, level, source, place), strict=True):
        number = feature_id(feature.kind, site if feature.is_of_site else "", value) if value else NONE
        row.append(NONE if number in found else number)
        found[number] = None
    return row


def link_feature_names(site: str, url: str, level: int, source: int, place: LinkPlace) -> tuple[str, ...]:
    """Return what each feature of `link_features` stands for, in words; "" where the link has none.

    >>> from crawlers.items import LinkPlace
    >>> names = link_feature_names("http://a.test", "http://a.test/news/x-files.html", 2, 7, LinkPlace("", "", "By me"))
    >>> names[5:8], names[-10:-8], names[-2:]
    (('http://a.test/news/', '7', 'me'), ('files', 'news'), ('2 to 3 words', '2'))
    """
    return tuple(_values(site, url, level, source, place))


def group_name(position: str, url: str) -> str:
    """Return the name of the group of a link to the absolute *url* at *position* on its page, a path of tags.

    Links of one list or menu lead to pages of one kind. Numbers are replaced by 0; the query, and the path after its
    last slash, are ignored.

    >>> group_name("ul/li.toc2", "http://a.test/news/2024/05/title.html?x=/1/")
    'ul/li.toc0 http://a.test/news/0/0/'
    """
    path = url.partition("?")[0]
    return _DIGITS.sub("0", f"{position} {path[: path.rfind('/') + 1]}"[:TEXT_CHARS])


def feature_id(kind: str, site: str, value: str) -> int:
    """Return the id of the feature *value* of a *kind*; *site* is empty if it means the same on all sites."""
    text = f"{kind}\n{site}\n{value}".encode("utf-8", "surrogatepass")
    return 1 + xxhash.xxh3_64_intdigest(text) % (TABLE_SIZE - 1)


def words(text: str, most: int) -> list[str]:
    """Return the first *most* different stems of words of *text*, without stop words and single letters.

    A stem is the first `STEM_CHARS` letters of a word in lower case, in any language. Sites that name the same things
    by other forms of a word, or by compounds, learn from each other.

    >>> words("All theNews_of 2024: the news, changes, Changelog", 4)
    ['all', 'news', 'chang']
    """
    found: dict[str, None] = {}
    for word in _WORD.findall(_CAMEL_CASE.sub(" ", text.replace("_", " "))):
        word = word.lower()
        if word not in _STOP_WORDS:
            found[word[:STEM_CHARS]] = None
            if len(found) == most:
                break
    return list(found)


def is_word(text: str) -> bool:
    """Return whether *text* may be one of the `words` of a link.

    >>> is_word("news"), is_word("News"), is_word("the news"), is_word("newspaper")
    (True, False, False, False)
    """
    return len(text) <= STEM_CHARS and text == text.lower() and _WORD.fullmatch(text) is not None


def _values(site: str, url: str, level: int, source: int, place: LinkPlace) -> Iterator[str]:
    anchor = place.anchor[:ANCHOR_CHARS]
    path, _, query = url.partition("://")[2].partition("/")[2][:URL_CHARS].partition("?")
    segments = unquote(path).split("/")
    yield "all links"
    yield site
    yield group_name(place.position[:TEXT_CHARS], url)
    yield place.position[:TEXT_CHARS]
    yield place.path[:TEXT_CHARS]
    yield _DIGITS.sub("0", url.partition("?")[0].rpartition("/")[0])[:TEXT_CHARS] + "/"
    yield str(source) if source else ""
    of_anchor = _padded(words(anchor, _WORDS))
    yield from of_anchor
    yield from of_anchor
    of_url = _padded(_url_words(segments, query))
    yield from of_url
    yield from of_url
    yield LENGTHS[min(len(anchor.split()).bit_length(), len(LENGTHS) - 1)]
    yield str(min(level, MAX_LEVEL))


def _url_words(segments: list[str], query: str) -> list[str]:
    """Return the words of the last segment and the query of a URL, and then those of the two segments before."""
    stem, dot, extension = segments[-1].rpartition(".")
    names = words(f"{stem if dot else extension} {unquote(query)}", _NAME_WORDS)
    directories = words(" ".join(segments[-3:-1]), _DIRECTORY_WORDS)
    return list(dict.fromkeys(names + directories))[:_WORDS]


def _padded(found: list[str]) -> list[str]:
    return found + [""] * (_WORDS - len(found))


MAX_ETA = 8.0  # of weights, and of predictions: 3,000 new links
# Those that have a meaning on other sites.
KINDS = tuple(dict.fromkeys(kind for _, kind in SHARED))


def prior_of(weights: LinkPrior) -> dict[int, float]:
    """Return *weights*, by kind and text of features that mean the same on all sites, by id.

    >>> len(prior_of({"anchor": {"changelog": 1.7, "news": 0.8}}))
    2
    """
    return {feature_id(kind, "", text): weight for kind, texts in weights.items() for text, weight in texts.items()}


OF_LINKS = "ranking/link_prior.json"  # with which ORDER=learnt begins


@cache
def shipped_weights(name: str) -> Any:
    """Return the weights by feature in one of these files, always the same object.

    >>> shipped_weights(OF_LINKS)["anchor"]["about"] > 0.0
    True
    """
    return json.loads(files("crawlers").joinpath(name).read_text("utf-8"))
