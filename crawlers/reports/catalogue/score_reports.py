"""What the order of a crawl found out: the importance of its pages, and what features of links promise."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from crawlers.files.csv_tables import write_table
from crawlers.items import LinkPlace
from crawlers.ranking.link_features import FEATURES, feature_id, link_feature_names, prior_of
from crawlers.ranking.link_values import LinkValues
from crawlers.reports.catalogue.conditions import by_code_points, is_wanted_site, of_page
from crawlers.reports.catalogue.page_reports import FOUND, LEVEL, REQUESTED, SITE, STATUS, TITLE, URL, links_to
from crawlers.reports.catalogue.renderers import file_cells
from crawlers.reports.catalogue.report import Column, ComputedReport, Group, Kind
from crawlers.store.reading.importance import totals_of, weight_of_page, weights_of_crawl
from crawlers.store.schema.tables import link, link_features, page, page_change, pull, site
from crawlers.store.writing.pulls import downloads_with_links, read_features, read_reward, stored_link_prior

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import ColumnElement, Connection, FromClause, Select, Subquery

    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.report import Cells, Related
    from crawlers.store.reading.importance import Totals


LEAST_DOWNLOADS = 5  # by links with a feature that is shown
MOST_DOWNLOADS = 100_000  # that are learnt from: some 12 s


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


class LinkFeatures(ComputedReport):
    """Features of links by their factors.

    Only numbers of features are stored: those have a name that the URL, the title and the level of a page tell.
    """

    name = "link-features"
    title = "What features of links promise"
    group = Group.LINKS
    about = "Words, folders and levels by which ORDER=learnt expects more or fewer new links of a page."
    columns = (
        Column(
            "factor", "Factor", Kind.DECIMAL, about="of what is expected of a page, by LINK_PRIOR and these downloads"
        ),
        Column("kind", "Kind"),
        Column("feature", "Feature"),
        SITE._replace(about="empty: all sites"),
        Column(
            "downloads", "Downloads", Kind.COUNT, about="by links with this feature, at least 5 of the first 100,000"
        ),
        Column("reward", "Reward", Kind.DECIMAL, about="of all of them"),
    )
    scope = frozenset[str]()  # what was learnt on one site is expected of others, too
    empty = "Crawls for external links with ORDER=learnt learn what links promise, from at least 5 of a kind."

    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        columns = (pull.c.reward, link_features.c.features, site.c.site, page.c.url, page.c.title, page.c.level)
        of_crawl = (site.c.crawl_id == crawl_id) & link_features.c.page_id.is_not(None)
        downloads = downloads_with_links(of_crawl, *columns).join(page, page.c.id == pull.c.page_id)
        downloads = downloads.limit(MOST_DOWNLOADS)
        values, rows = LinkValues(prior_of(stored_link_prior(connection, crawl_id))), connection.execute(downloads)
        names: dict[int, tuple[str, str, str]] = {}
        numbers, rewards = Counter[int](), Counter[int]()
        for stored, text, of, url, title, level in rows:
            reward, features = read_reward(stored, "the store"), read_features(text, "the store").tolist()
            values.learn(features, reward)
            numbers.update(features)
            rewards.update(dict.fromkeys(features, reward))
            texts = link_feature_names(of, url, level, 0, LinkPlace("", "", title or ""))
            for number, feature, name in zip(features, FEATURES, texts, strict=True):
                where = of if feature.is_of_site else ""
                if numbers[number] < LEAST_DOWNLOADS or number in names:
                    continue
                if name and feature_id(feature.kind, where, name) == number:
                    shown = f"/{name.split('/', 3)[3]}" if feature.kind == "directory" else name
                    names[number] = feature.kind, shown, where
        factors = map(math.exp, values.parts([*names]))
        found = ((factor, *names[one], numbers[one], rewards[one]) for factor, one in zip(factors, names, strict=True))
        yield from sorted(found, reverse=True)


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
