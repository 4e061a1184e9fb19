"""The picture of the importance of pages in the order in which they were read."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING

from sqlalchemy import func, literal, select, union_all

from crawlers.ranking.page_orders import OF_IMPORTANCE
from crawlers.reports.catalogue.table import Kind
from crawlers.reports.histories.history import said
from crawlers.reports.pictures.picture import POINTS, Axis, Drawing, Picture, Series, Tone
from crawlers.store.reading.crawl_settings import recorded
from crawlers.store.reading.importance import Totals, totals_of, weights_of_crawl
from crawlers.store.schema.score_tables import order_totals
from crawlers.store.schema.tables import pull, site
from crawlers.store.writing.pulls import has_pulls

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from crawlers.reports.pictures.picture import PictureRequest


class Importance(Picture):
    """The share of all importance that the pages read so far have."""

    name = "importance"
    title = "Importance collected"
    about = (
        "How much of the importance of all pages read the first ones have, as it is measured now: a good order begins "
        "steeply."
    )
    axes = (Axis("pages", "different pages read"),)

    def is_stored(self, connection: Connection, wanted: PictureRequest) -> bool:
        of_crawl = order_totals.c.crawl_id == wanted.crawl.id
        return (
            recorded(connection, wanted.crawl.id, "ORDER").get("ORDER") in OF_IMPORTANCE
            and connection.execute(select(order_totals.c.crawl_id).where(of_crawl).limit(1)).first() is not None
            and has_pulls(connection, wanted.crawl.id)
        )

    def drawing(self, connection: Connection, wanted: PictureRequest) -> Drawing:
        y = Axis("share", "share of all importance", Kind.DECIMAL)
        totals = totals_of(connection, wanted.crawl.id)
        if totals is None:
            return Drawing(self.axes[0], y, (), ())
        parts = _parts(connection, wanted.crawl.id, totals)
        if not parts[True]:
            return Drawing(self.axes[0], y, (), ())
        points = accumulate((pages for pages, _ in parts[True]), initial=0)
        by_crawl, best = (
            tuple(map(totals.share, accumulate((weight for _, weight in parts[order]), initial=0.0)))
            for order in (True, False)
        )
        series = (
            Series("in the order of the crawl", by_crawl, Tone.GOOD),
            Series("the most important pages first", best, Tone.REST),
        )
        note = said("The second curve is the best one that any order could have with these pages.")
        return Drawing(self.axes[0], y, tuple(map(float, points)), series, notes=(note,))


def _parts(connection: Connection, crawl_id: int, totals: Totals) -> dict[bool, list[tuple[int, float]]]:
    """Return the pages that were read in at most `POINTS` parts: the number of each, and its weight.

    By the order of their first downloads (True), and by weight (False).
    """
    weighed = weights_of_crawl(connection, crawl_id, totals)
    pages = connection.execute(select(func.count()).select_from(weighed)).scalar_one()
    every = max(1, math.ceil(pages / POINTS))
    of_crawl = select(site.c.id).where(site.c.crawl_id == crawl_id)
    first = func.min(pull.c.id).label("first")
    downloads = select(pull.c.page_id, first).where(pull.c.site_id.in_(of_crawl)).group_by(pull.c.page_id).subquery()
    ranked = (
        select(
            weighed.c.score.label("weight"),
            func.row_number().over(order_by=downloads.c.first).label("as_read"),
            func.row_number().over(order_by=weighed.c.score.desc()).label("best"),
        )
        .join(downloads, downloads.c.page_id == weighed.c.page_id)
        .cte("ranked")  # used twice, so that the database computes it once
    )
    sums = (
        select(literal(by_crawl).label("by_crawl"), part, func.count(), func.sum(ranked.c.weight)).group_by(part)
        for by_crawl, part in ((True, (ranked.c.as_read - 1) // every), (False, (ranked.c.best - 1) // every))
    )
    found: dict[bool, list[tuple[int, float]]] = {True: [], False: []}
    for by_crawl, _, number, weight in sorted(connection.execute(union_all(*sums))):
        found[bool(by_crawl)].append((number, weight))
    return found
