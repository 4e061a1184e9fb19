"""The pages of a crawl by what its order found out about them: importance, and what was
learnt of the links to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select

from crawlers.files.csv_tables import write_table
from crawlers.items import LinkPlace
from crawlers.mission import parts_of_all
from crawlers.ranking.link_features import FEATURES, NONE, feature_id, link_feature_names, prior_of
from crawlers.ranking.link_values import LinkValues, features_of
from crawlers.reports.catalogue.conditions import by_code_points, is_wanted_site, of_page
from crawlers.reports.catalogue.page_reports import FOUND, LEVEL, REQUESTED, SITE, STATUS, TITLE, URL, links_to
from crawlers.reports.catalogue.renderers import file_cells
from crawlers.reports.catalogue.report import Column, ComputedReport, Group, Kind
from crawlers.store.reading.importance import totals_of, weight_of_page, weights_of_crawl
from crawlers.store.schema.tables import link, link_features, page, page_change, pull, site
from crawlers.store.writing.pulls import stored_link_prior

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import ColumnElement, Connection, FromClause, Select, Subquery

    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.report import Cells, Related
    from crawlers.store.database import Database
    from crawlers.store.reading.importance import Totals

ROWS_AT_ONCE = 10_000


class FeatureWorth(NamedTuple):
    """A feature of links, and what it was worth."""

    kind: str  # as in `FEATURES`
    text: str
    site: str  # "": all sites
    pages: int  # read by links with this feature
    found: float  # rewards of these pages
    weight: float  # at the end, e^weight is its factor of the reward that is expected


def feature_worths(database: Database, crawl_id: int, least_pages: int) -> list[FeatureWorth]:
    """Return the features of the links to at least *least_pages* pages, those that promise most first.

    Only numbers of features are stored: those are named that the URL, the title and the level of a page tell.
    Positions, elements around links and the pages on which they stand are missing. Raises `StoreError`.
    """
    rows = (
        select(pull.c.reward, link_features.c.features, site.c.site, page.c.url, page.c.title, page.c.level)
        .outerjoin(link_features, link_features.c.page_id == pull.c.page_id)
        .join(site, site.c.id == pull.c.site_id)
        .outerjoin(page, page.c.id == pull.c.page_id)  # rows of duplicates may have been deleted
        .where(site.c.crawl_id == crawl_id)
        .order_by(pull.c.id)
        .execution_options(yield_per=ROWS_AT_ONCE)
    )
    names: dict[int, tuple[str, str, str]] = {}  # kind, text and site
    pages: dict[int, int] = {}
    found: dict[int, float] = {}
    with database.read() as connection:
        of_mission = (links(connection, crawl_id) for links in parts_of_all("links"))
        values = next(filter(None, of_mission), None) or values_at_first(connection, crawl_id)
        for reward, text, of, url, title, level in connection.execute(rows):
            if text is None:
                values.learn([], reward)
                continue
            features = features_of(text).tolist()
            values.learn(features, reward)
            if url is None:
                continue
            texts = link_feature_names(of, url, level, 0, LinkPlace("", "", title or ""))
            for number, feature, name in zip(features, FEATURES, texts, strict=True):
                if number == NONE:
                    continue
                pages[number] = pages.get(number, 0) + 1
                found[number] = found.get(number, 0.0) + reward
                where = of if feature.is_of_site else ""
                if number not in names and name and feature_id(feature.kind, where, name) == number:
                    names[number] = feature.kind, _path(name) if feature.kind in ("group", "directory") else name, where
    numbers = [number for number in names if pages[number] >= least_pages]
    worths = [
        FeatureWorth(*names[number], pages[number], found[number], weight)
        for number, weight in zip(numbers, values.parts(numbers), strict=True)
    ]
    return sorted(worths, key=lambda one: (-one.weight, one.kind, one.text, one.site))


def values_at_first(connection: Connection, crawl_id: int) -> LinkValues:
    """Return what a crawl knew of links before its first page."""
    return LinkValues(prior_of(stored_link_prior(connection, crawl_id)))


def _path(directory: str) -> str:
    """Return the path of a *directory*: in its host, digits are folded as well.

    >>> _path("http://0.0.0.0:0/docs/v0/")
    '/docs/v0/'
    """
    return "/" + directory.partition("://")[2].partition("/")[2]


class ImportantPages(ComputedReport):
    """Pages by importance."""

    name = "important-pages"
    title = "Important pages"
    group = Group.CONTENTS
    about = "The pages with the largest shares of the cash of OPIC, the online estimate of their importance."
    columns = (
        Column("importance", "Importance", Kind.DECIMAL, about="its share of the cash"),
        URL,
        TITLE,
        LEVEL,
        STATUS,
        FOUND,
        REQUESTED,
        SITE,
    )
    conditions = of_page("text", "level", "status")
    most = 10_000  # whoever wants more reads all pages
    empty = "Crawls with ORDER=aopic or ORDER=opic measure the importance of the pages that they read."

    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        totals = totals_of(connection, crawl_id)
        if totals is None:
            return
        weighed = weights_of_crawl(connection, crawl_id, totals)
        conditions = (is_wanted_site(crawl_id, filters), *self.met(filters))
        statement = by_score(weighed, *self.values[1:]).where(*conditions).limit(self.most + 1)
        for weight, *about in connection.execute(statement):
            yield (totals.share(weight), *about)

    def related(self, cells: Cells) -> Related | None:
        return links_to(cells[1])


def by_score(scores: FromClause, *values: ColumnElement[Any]) -> Select[Any]:
    """Return the query for the score and the *values* of the pages in *scores*, the best first, equal ones by URL."""
    pages = select(scores.c.score, *values).join(page, page.c.id == scores.c.page_id)
    return pages.join(site, site.c.id == page.c.site_id).order_by(scores.c.score.desc(), by_code_points(page.c.url))


RANK = Column("rank", "Rank", Kind.NUMBER)
PAGERANK = Column("pagerank", "PageRank", Kind.DECIMAL)
TOP = (
    *ImportantPages.columns,
    Column("changes", "Changes", Kind.NUMBER),
    Column("in_degree", "Linking pages", Kind.NUMBER),
)


def best_pages(connection: Connection, totals: Totals | None, scores: Subquery, number: int) -> Iterator[Cells]:
    """Yield the score of each of the *number* pages with the highest *scores*, best first, with the cells of `TOP`.

    *totals* are those of the crawl. No rows are kept in memory. To count inlinks it reads all links of the store once.
    """
    best = select(scores.c.score).order_by(scores.c.score.desc()).offset(number - 1).limit(1).scalar_subquery()
    chosen = select(scores).where(scores.c.score >= func.coalesce(best, 0.0)).cte("chosen")
    of_chosen = (link.c.target_id.in_(select(chosen.c.page_id)), link.c.source_id != link.c.target_id)
    inward = select(link.c.target_id, func.count().label("pages")).where(*of_chosen).group_by(link.c.target_id).cte()
    changes = select(func.count()).where(page_change.c.page_id == page.c.id).scalar_subquery()
    about = (*ImportantPages().values[1:], changes, func.coalesce(inward.c.pages, 0))
    pages = by_score(chosen, weight_of_page(connection, totals), *about)
    statement = pages.outerjoin(inward, inward.c.target_id == page.c.id).limit(number)
    for score, weight, *cells in connection.execution_options(stream_results=True).execute(statement):
        yield (score, None if totals is None or weight is None else totals.share(weight), *cells)


def write_ranked(path: Path, columns: Sequence[Column], rows: Iterable[Cells]) -> int:
    """Write *rows*, the best one first, to *path*; return their number. Raises the errors of `replacing`."""
    names = [column.name for column in (RANK, *columns)]
    return write_table(path, names, ((rank, *file_cells(columns, row)) for rank, row in enumerate(rows, 1)))
