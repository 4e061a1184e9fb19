"""Is a page an article? Evidence from its HTML and from feeds, as a sum of log-odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

SURE = 2.0  # positive evidence must exceed this value, negative evidence must reach it
IN_FEED = 3.0  # the page is in RSS, Atom, JSON Feed or a news sitemap
DATED = 1.5  # the page has a date of publication
DENSE = 0.6  # a page with a larger share of its text in links is a list
ALTERNATE_URL = -3.0  # instead of all evidence, if the same content was found before at another URL of the site
WEAK = 0.3  # weight of the label of a page without evidence
MIN_PREFIXES = 5  # a URL with which at least this many other URLs begin is a directory


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence in the HTML of a page."""

    structured: bool = False  # JSON-LD or microdata: NewsArticle, Article, BlogPosting
    og_article: bool = False
    has_date: bool = False  # article:published_time, or <time datetime> near the h1
    is_texty: bool = False  # one to three h1, a block of more than 800 characters, link density below 0.3
    link_density: float = 0.0  # share of the text in links
    og_website: bool = False
    has_pagination: bool = False  # rel=next or prev
    is_prefix_of: int = 0  # number of other URLs of the host that begin with this one


def log_odds(evidence: Evidence) -> float:
    """Return the evidence for (positive) or against (negative) an article, as a sum of log-odds.

    >>> log_odds(Evidence(structured=True, is_prefix_of=5))
    1.0

    Notes
    -----
    The weights are estimates, not fitted: explicit declarations of a site (its feed, its markup) count most.
    """
    weights = (
        (evidence.structured, 3.0),
        (evidence.og_article, 2.0),
        (evidence.has_date, DATED),
        (evidence.is_texty, 1.5),
        (evidence.link_density > DENSE, -2.0),
        (evidence.og_website, -1.5),
        (evidence.has_pagination, -1.5),
        (evidence.is_prefix_of >= MIN_PREFIXES, -2.0),
    )
    return sum(weight for holds, weight in weights if holds)


class StoredLabel(NamedTuple):
    """What was found on a page when it was read for the first time."""

    site: str
    url: str
    odds: float  # that it is an article, see `log_odds`
    articles: int | None = None  # new ones that it shows; None if its URL is that of an article
    labelled_at: float | None = None  # None: by an earlier version


class Label(NamedTuple):
    """What a page says about its URL; *weight* in (0, 1]: a weak label is often wrong."""

    is_article: bool
    weight: float = 1.0


def label(odds: float) -> Label | None:
    """Return the label of a page with these *odds*, from `log_odds`; None if they are uncertain.

    A single og:type is not enough for an article, whereas a high link density is enough against one. A page without any
    evidence is probably another page: of the articles, those with neither markup nor a date look like it.

    >>> label(3.0), label(2.0), label(-2.0)
    (Label(is_article=True, weight=1.0), None, Label(is_article=False, weight=1.0))
    >>> label(0.0)
    Label(is_article=False, weight=0.3)
    """
    if odds > SURE:
        return Label(is_article=True)
    if odds <= 0.0:
        return Label(is_article=False, weight=1.0 if odds <= -SURE else WEAK)
    return None


def is_list(odds: float) -> bool:
    """Return whether the content of a page with these *odds* is a list, whatever its URL looks like.

    A short article among many links is not: its markup, its date or its text outweigh them.

    >>> is_list(-2.0), is_list(DATED - 2.0)
    (True, False)
    """
    return odds <= -SURE
