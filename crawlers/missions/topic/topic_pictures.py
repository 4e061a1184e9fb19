"""Pictures of a topic crawl in the order in which it read pages: similarity to the topic, TimelyRank."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import exists, func, select

from crawlers.items import State
from crawlers.missions.topic.topic_tables import relevance, topic_page
from crawlers.reports.catalogue.report import Kind
from crawlers.reports.histories.history import said
from crawlers.reports.pictures.picture import PAGES_READ, Axis, Drawing, Picture, Series, Tone
from crawlers.store.schema.tables import page, site

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from crawlers.reports.pictures.picture import PictureRequest

LOOKED_UP_SITES = 10
LOOKED_UP = 1000  # pages that were read: nearly all of them have a value
PARTS = 50  # of the pages, each with a mean: fewer would hide when a crawl loses its topic, more are noise


class _TopicPicture(Picture):
    """Means of a value over the pages of a topic crawl, in the order in which they were read."""

    axes = (PAGES_READ,)
    y: ClassVar[Axis]
    _value: ClassVar[ColumnElement[float]]

    def is_stored(self, connection: Connection, wanted: PictureRequest) -> bool:
        if wanted.crawl.mission != "topic":
            return False
        # By its sites: else PostgreSQL would read the pages of all crawls until it met those of this.
        is_read = page.c.state == int(State.DONE)
        with_pages = exists().where(page.c.site_id == site.c.id, is_read)
        some = select(site.c.id).where(site.c.crawl_id == wanted.crawl.id, with_pages).limit(LOOKED_UP_SITES)
        sites = connection.execute(some).scalars().all()
        read = select(page.c.id).where(page.c.site_id.in_(sites), is_read).limit(LOOKED_UP).subquery()
        valued = select(topic_page.c.page_id).join(read, read.c.id == topic_page.c.page_id)
        return connection.execute(valued.limit(1)).first() is not None

    def drawing(self, connection: Connection, wanted: PictureRequest) -> Drawing:
        number = func.row_number().over(order_by=(page.c.fetched_at, page.c.id)).label("number")
        read = (
            select(number, self._value.label("value"))
            .select_from(topic_page)
            .join(page, page.c.id == topic_page.c.page_id)
            .join(site, site.c.id == page.c.site_id)
            .outerjoin(relevance, relevance.c.page_id == page.c.id)
            .where(site.c.crawl_id == wanted.crawl.id)
            .subquery()
        )
        pages = connection.execute(select(func.count()).select_from(read)).scalar_one()
        every = max(1, math.ceil(pages / PARTS))
        part = (read.c.number - 1) // every
        counted = func.count(read.c.value)
        statement = select(func.count(), counted, func.sum(read.c.value)).group_by(part).order_by(part)
        points, means, recent = [], [], []
        done, valued, total = 0, 0, 0.0
        for of_part, with_value, value in connection.execute(statement):
            done, valued, total = done + of_part, valued + with_value, total + (value or 0.0)
            points.append(float(done))
            means.append(total / valued if valued else None)
            recent.append(value / with_value if with_value else None)
        series = (
            Series("mean of all pages so far", tuple(means), Tone.GOOD),
            Series("mean of the latest pages", tuple(recent), Tone.REST),
        )
        note = said("The latest pages are %(number)s at a time.", number=every)
        return Drawing(PAGES_READ, self.y, tuple(points), series if points else (), notes=(note,) if every > 1 else ())


class Similarity(_TopicPicture):
    """The similarity of the pages read to the topic."""

    name = "similarity"
    title = "Similarity to the topic"
    about = (
        "How similar to the topic the pages were that the crawl read, one after the other: whether it stays with it."
    )
    y = Axis("similarity", "similarity to the topic (0 to 1)", Kind.DECIMAL)
    _value = topic_page.c.similarity


class TimelyRank(_TopicPicture):
    """The TimelyRank of the pages read."""

    name = "timely-rank"
    title = "Importance of the pages read (TimelyRank)"
    about = "How many paths led to the pages when they were chosen, as the logarithm of their TimelyRank."
    y = Axis("timely_rank", "ln TimelyRank", Kind.DECIMAL)
    _value = relevance.c.rank
