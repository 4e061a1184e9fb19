"""Is a page an article? Evidence from its HTML and from feeds, as a sum of log-odds."""

from __future__ import annotations

from dataclasses import dataclass

SURE = 2.0  # evidence for an article must add up to more, evidence against it to no less
IN_FEED = 3.0  # RSS, Atom, JSON Feed or a news sitemap names the page
DATED = 1.5  # it tells when it was published
DENSE = 0.6  # a page with so much of its text in links is a list
DETOUR = -3.0  # instead of all evidence: what such a page has, another URL of the site had before
PREFIXES_MIN = 5  # other URLs that begin with this one make it a directory


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the HTML of a page shows."""

    structured: bool = False  # JSON-LD or microdata: NewsArticle, Article, BlogPosting
    og_article: bool = False
    has_date: bool = False  # article:published_time, or <time datetime> near the h1
    is_texty: bool = False  # one h1, a block of more than 800 characters, link density below 0.3
    link_density: float = 0.0  # share of the text that stands in links
    og_website: bool = False
    has_pagination: bool = False  # rel=next or prev
    is_prefix_of: int = 0  # how many other URLs of the host begin with this one


def log_odds(evidence: Evidence) -> float:
    """Return how much speaks for an article (positive) or against it (negative).

    >>> log_odds(Evidence(structured=True, is_prefix_of=5))
    1.0

    Notes
    -----
    The weights are judgements, not fitted: what a site says on purpose (its feed, its markup) counts most.
    """
    weights = (
        (evidence.structured, 3.0),
        (evidence.og_article, 2.0),
        (evidence.has_date, DATED),
        (evidence.is_texty, 1.5),
        (evidence.link_density > DENSE, -2.0),
        (evidence.og_website, -1.5),
        (evidence.has_pagination, -1.5),
        (evidence.is_prefix_of >= PREFIXES_MIN, -2.0),
    )
    return sum(weight for is_seen, weight in weights if is_seen)


def label(odds: float) -> bool | None:
    """Return whether a page with these *odds*, of `log_odds`, is an article; None if nobody can be sure.

    One thing that a site says for an article is not enough; that most of a text is links is.

    >>> label(3.0), label(2.0), label(-2.0)
    (True, None, False)
    """
    if odds > SURE:
        return True
    return False if odds <= -SURE else None
