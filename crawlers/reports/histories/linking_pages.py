"""Finds the pages that link to a URL. There is no index of links by target, so pages are searched in bounded steps.

For each page that was read, its links to the URL are looked up by the key of the table, so that a search takes time by
the number of pages, not of links: an index by target would make storing links several times as dear.
"""

from __future__ import annotations

import heapq
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from sqlalchemy import case, func, literal, select

from crawlers.items import REDIRECT, State
from crawlers.reports.catalogue.conditions import Filters
from crawlers.reports.catalogue.index_walk import PageReport, Position
from crawlers.reports.catalogue.report import Row
from crawlers.reports.histories.history import (
    N_,
    SHOWN,
    Fact,
    Said,
    Topic,
    Url,
    Urls,
    counted_pages,
    counted_times,
    fact,
    said,
)
from crawlers.store.schema.tables import (
    bad_link,
    external_link,
    link,
    link_anchor,
    link_context,
    link_text,
    page,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import Connection, Select

    from crawlers.reports.catalogue.report import Cursor
    from crawlers.reports.histories.history import Part, Subject
    from crawlers.store.database import Database


# Of a link to another site: its place on the page, or that it is a redirect.
PLACE = case((link_context.c.tag == REDIRECT, literal(REDIRECT)), else_=link_context.c.position)


class Holder(NamedTuple):
    """A page with links to the URL, in one context: the cells of its row. A redirect to it has no links."""

    url: str
    level: int
    links: int
    anchor: str
    position: str  # on the page; or redirect
    read_at: float | None


class LinkingPages(PageReport):
    """The pages that link to a *subject*: the cells of a row are a `Holder`; each step ends with a whole page."""

    states = (State.WAITING, State.DONE, State.MOVED, State.REFUSED)  # others have no links; a read page may wait again
    where = (page.c.fetched_at.is_not(None),)

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    @property
    def values(self) -> list[Any]:
        return [page.c.url, page.c.fetched_at, page.c.moved_to]

    def rows(self, connection: Connection, prefix: Cursor, found: Sequence[Any], filters: Filters) -> Iterator[Row]:
        subject, page_ids = self._subject, [one.id for one in found]
        if subject.page_ids:
            links = _internal(connection, subject.page_ids, page_ids)
        elif subject.external_id is not None:
            links = _external(connection, subject.external_id, page_ids)
        else:
            links = _bad(connection, subject.raw or "", page_ids)
        for one in found:
            contexts = list(links.get(one.id, ()))
            if one.moved_to in subject.page_ids:
                contexts.append((0, "", REDIRECT))
            for number, anchor, position in contexts:
                holder = Holder(one.url, one.level, number, anchor, position, one.fetched_at)
                yield Row(holder, self.place(prefix, one))


def linking_facts(database: Database, crawl_id: int, subject: Subject, is_over: Callable[[], bool]) -> list[Fact]:
    """Return how many pages link to *subject*, the first of them, and those that redirect to it.

    Nothing if it is a text that is not a URL, and no page has it. The search ends when the time *is_over*, and the
    facts say so. Raises `StoreError`.
    """
    if not subject.is_anything:
        return []
    first: list[Holder] = []
    redirects: list[Holder] = []
    pages: set[int] = set()
    links = 0
    with database.read() as connection:
        report, everything = LinkingPages(subject), Filters()
        for step in report.steps(connection, crawl_id, everything, None):
            for row in step.rows:
                one = cast("Holder", row.cells)
                if one.position == REDIRECT:
                    redirects.append(one)
                else:
                    first.append(one)
                    pages.add(row.cursor[-1])
                    links += one.links
            first = heapq.nsmallest(SHOWN, first, key=lambda one: (one.level, one.url, one.anchor))
            redirects = heapq.nsmallest(SHOWN, redirects, key=lambda one: (one.level, one.url))
            if is_over():
                break
        place = None
        if step.cursor is not None:
            place = report.search_place(connection, crawl_id, everything, Position(*step.cursor))
    if subject.raw is not None and not links and place is None:
        return []
    facts = [Fact(Topic.LINKS, _linked(first, links, len(pages)))]
    if redirects:
        urls = tuple(one.url for one in redirects)
        facts.append(fact(Topic.LINKS, "redirects lead to it from %(urls)s", urls=Urls(urls, len(urls))))
    if place is not None:
        unfinished = fact(
            Topic.LINKS,
            "only %(done)s of %(total)s sites were searched for links in the time that was allowed; the page of the "
            "URL in scrapy web searches all of them",
            done=place.number,
            total=place.sites,
        )
        facts.append(unfinished)
    return facts


def _linked(first: Sequence[Holder], links: int, pages: int) -> Said:
    """Return the sentence about *links* on *pages*, the *first* of which are named."""
    counts: dict[str, Part] = {"times": counted_times(links), "pages": counted_pages(pages)}
    if any(one.anchor or one.position for one in first):
        return said("linked to %(times)s from %(pages)s", map(_holder, first), **counts)
    if not links:
        return said("no stored page links to it")
    urls = tuple(dict.fromkeys(one.url for one in first))
    return said("linked to %(times)s from %(pages)s: %(urls)s", **counts, urls=Urls(urls, pages))


def _holder(one: Holder) -> Said:
    parts: dict[str, Part] = {"url": Url(one.url), "text": one.anchor, "place": Said(one.position, {})}
    with_text = N_('as "%(text)s" in %(place)s on %(url)s') if one.position else N_('as "%(text)s" on %(url)s')
    without = N_("in %(place)s on %(url)s") if one.position else N_("on %(url)s")
    return said(with_text if one.anchor else without, **parts)


_Contexts = dict[int, list[tuple[int, str, str]]]  # (links, text, place) by page


def _internal(connection: Connection, targets: Sequence[int], page_ids: Sequence[int]) -> _Contexts:
    counts: Counter[int] = Counter()
    of_links = (link.c.source_id.in_(page_ids), link.c.target_id.in_(targets))
    for source, number in connection.execute(select(link.c.source_id, link.c["count"]).where(*of_links)):
        counts[source] += number
    if not counts:
        return {}
    contexts = link_texts(connection, list(counts), targets)
    return {source: [(number, *contexts.get(source, ("", "")))] for source, number in counts.items()}


def link_texts(connection: Connection, sources: Sequence[int], targets: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Return the text and the place of the first link to one of *targets*, by source, as far as they are stored."""
    of_links = (link_text.c.source_id.in_(sources), link_text.c.target_id.in_(targets))
    texts = (
        select(link_text.c.source_id, link_context.c.anchor, link_context.c.position)
        .join(link_context, link_context.c.id == link_text.c.context_id)
        .where(*of_links)
        .order_by(link_context.c.anchor, link_context.c.position)
    )
    anchors = select(link_anchor.c.source_id, link_anchor.c.anchor).where(
        link_anchor.c.source_id.in_(sources), link_anchor.c.target_id.in_(targets)
    )
    found: dict[int, tuple[str, str]] = {}
    for source, anchor, position in connection.execute(texts):
        found.setdefault(source, (anchor, position))
    for source, anchor in connection.execute(anchors):
        found.setdefault(source, (anchor, ""))
    return found


def _external(connection: Connection, url_id: int, page_ids: Sequence[int]) -> _Contexts:
    links = (
        select(
            external_link.c.page_id,
            external_link.c["count"],
            link_context.c.anchor,
            PLACE,
        )
        .join(link_context, link_context.c.id == external_link.c.context_id)
        .where(external_link.c.page_id.in_(page_ids), external_link.c.url_id == url_id)
        .order_by(external_link.c.page_id, external_link.c.context_id)
    )
    return _by_page(connection, links)


def _bad(connection: Connection, raw: str, page_ids: Sequence[int]) -> _Contexts:
    columns = (bad_link.c.page_id, bad_link.c["count"], func.coalesce(bad_link.c.anchor, ""), literal(""))
    links = select(*columns).where(bad_link.c.page_id.in_(page_ids), bad_link.c.raw == raw)
    return _by_page(connection, links)


def _by_page(connection: Connection, links: Select[Any]) -> _Contexts:
    found: _Contexts = {}
    for source, *context in connection.execute(links):
        found.setdefault(source, []).append(tuple(context))
    return found
