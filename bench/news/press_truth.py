"""Holds what a news crawl has stored against what the simulated press knows: which pages were worth their download."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from statistics import quantiles
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from examples.press.press import Article
    from examples.press.server import LoggedRequest, Options, Served

DEADLINE_S = 12 * 3600  # of the press, from publication to the store
_DOCUMENTS = """
    SELECT p.url, d.title, d.text, d.published, d.stored_at
    FROM document d JOIN page p ON p.id = d.page_id ORDER BY d.stored_at, d.page_id"""
_RULES = "SELECT domain, regex FROM url_rule WHERE weight > 0 AND origin = 'learnt' ORDER BY domain, regex"


class Document(NamedTuple):
    """A row of the store; *stored_at* by the real clock."""

    url: str
    title: str
    text: str
    published: str | None  # ISO 8601, in the zone that the page gives
    stored_at: float


class Point(NamedTuple):
    """The state after so many pages; *useful* is the share of documents in the pages since the point before."""

    pages: int
    useful: float
    recall: float


def documents(store: Path) -> list[Document]:
    with closing(sqlite3.connect(store)) as connection:
        return [Document(*row) for row in connection.execute(_DOCUMENTS)]


def learnt_rules(store: Path, hosts: Sequence[str]) -> dict[str, list[str]]:
    """The rules that a crawl has learnt, by host; the store knows them by domain."""
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute(_RULES).fetchall()
    return {host: [regex for domain, regex in rows if domain in (host, host.partition(":")[0])] for host in hosts}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a crawl was worth."""

    points: list[Point]
    pages: int  # of HTML; those that came back count each time
    other_requests: int  # feeds, sitemaps, robots.txt, and what is not there
    documents: int  # that are articles, each counted once
    recall: float  # of all documents that the press had published at the end
    announced: int  # articles of sites with a feed or a news sitemap, published in good time while the crawl ran
    in_time: int  # of these, stored within the deadline
    delays_s: list[float]  # of these, by the clock of the press
    doubled: int  # documents stored that are copies of another one stored
    lost: int  # documents fetched of which nothing is stored, nor of a copy
    no_articles: int
    right_titles: float
    right_days: float
    right_texts: float

    @property
    def useful(self) -> float:
        return self.documents / self.pages if self.pages else 0.0

    def row(self) -> str:
        """A line of the table, see `HEADER`."""
        early = self.points[min(3, len(self.points)) - 1].useful if self.points else 0.0
        last = self.points[-1].useful if self.points else 0.0
        delays = [f"{seconds / 3600:.1f} h" for seconds in _percentiles(self.delays_s)]
        cells = [
            f"{self.pages:,}", f"{self.other_requests:,}", f"{self.documents:,}", f"{self.useful:.1%}",
            f"{early:.1%}", f"{last:.1%}", f"{self.recall:.1%}", f"{self.in_time:,} of {self.announced:,}", *delays,
            str(self.doubled), str(self.lost), str(self.no_articles),
            f"{self.right_titles:.1%}", f"{self.right_days:.1%}", f"{self.right_texts:.1%}",
        ]  # fmt: skip
        return " | ".join(cells)


HEADER = (
    "pages | other requests | documents | useful | in the 3rd iteration | in the last | recall | announced in time |"
    " median delay | 99 % | doubled | lost | no articles | titles right | days right | texts right"
)


def _percentiles(values: Sequence[float]) -> tuple[float, float]:
    """The median and the 99th percentile; not a number where there are none."""
    cuts = quantiles(values, n=100, method="inclusive") if len(values) > 1 else [math.nan] * 99
    return cuts[49], cuts[98]


def compare(
    served: Served, options: Options, asked: Sequence[LoggedRequest], found: Sequence[Document], every: int
) -> Outcome:
    """Return the outcome of a crawl that *asked* for pages and *found* documents; a point per *every* pages."""
    press = served.press
    real_end = max((one.real_at for one in asked), default=options.real_began)
    end = options.press_time(real_end)
    truth = {article.url: article for host in press.hosts for article in press.articles(host, end)}
    own = {url for url, article in truth.items() if not article.copy_of}
    shown = {one.url: press.document(one.url, end) for one in found}  # by the URL that was fetched
    stored = {url for url in shown.values() if url}
    pages = [one for one in asked if one.status in (200, 304) and one.content_type.startswith("text/html")]
    fetched = {press.document(one.url, end) for one in pages if press.is_article(one.url, end)}
    due = [
        truth[url] for host in press.hosts if press.in_feed(host)
        for url in own if url.split("/")[2] == host and options.began < truth[url].published_at < end - DEADLINE_S
    ]  # fmt: skip
    first_at = _stored_at(found, shown, options)
    delays = [first_at[one.url] - one.published_at for one in due if one.url in first_at]
    return Outcome(
        points=_points(pages, shown, len(own), every),
        pages=len(pages),
        other_requests=len(asked) - len(pages),
        documents=len(stored),
        recall=len(stored) / max(len(own), 1),
        announced=len(due),
        in_time=sum(delay <= DEADLINE_S for delay in delays),
        delays_s=delays,
        doubled=sum(url != "" for url in shown.values()) - len(stored),
        lost=len(fetched - stored),
        no_articles=sum(url == "" for url in shown.values()),
        **_right(found, shown, truth),
    )


def _stored_at(found: Sequence[Document], shown: dict[str, str], options: Options) -> dict[str, float]:
    """When each document was stored first, by the clock of the press."""
    times: dict[str, float] = {}
    for one in found:
        times.setdefault(shown[one.url], options.press_time(one.stored_at))
    return times


def _points(pages: Sequence[LoggedRequest], shown: dict[str, str], known: int, every: int) -> list[Point]:
    """The curve: a page is useful if it became a document, once."""
    open_ = {unquote(url): document for url, document in shown.items()}
    got: set[str] = set()
    points, useful = [], 0
    for number, page in enumerate(pages, 1):
        document = open_.pop(unquote(page.url), "")
        useful += document != "" and document not in got
        got.add(document)
        if number % every == 0:
            points.append(Point(number, useful / every, len(got - {""}) / max(known, 1)))
            useful = 0
    return points


def _right(found: Sequence[Document], shown: dict[str, str], truth: dict[str, Article]) -> dict[str, float]:
    """Which shares of the articles stored have the title, day and text that they should have."""
    # A reprint has a text of its own, if hardly.
    both = [(one, truth.get(one.url) or truth[shown[one.url]]) for one in found if shown[one.url]]
    whole = max(len(both), 1)
    return {
        "right_titles": sum(one.title.split() == article.title.split() for one, article in both) / whole,
        "right_days": sum((one.published or "")[:10] == article.day for one, article in both) / whole,
        "right_texts": sum(_has_text(one.text, article) for one, article in both) / whole,
    }


def _has_text(text: str, article: Article) -> bool:
    """Whether all of the article is in a stored text, as it was or as corrected, and little else."""
    words = "".join(text.split())
    wanted = ["".join(version.split()) for version in (article.text, article.correction) if version]
    return any(one in words and len(words) < 1.25 * len(one) for one in wanted)
