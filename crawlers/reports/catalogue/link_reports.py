"""Reports about links: within the sites of a crawl, to others, broken ones, and those that can't be followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from sqlalchemy import func, select

from crawlers.items import State
from crawlers.reasons import Reason, code_of, codes_with
from crawlers.reports.catalogue.conditions import equal, in_text, is_host, is_wanted_page, of_reason
from crawlers.reports.catalogue.index_walk import HOLDERS_AT_ONCE, PageReport
from crawlers.reports.catalogue.page_reports import LEVEL, links_to
from crawlers.reports.catalogue.report import Column, ComputedReport, Group, Kind, Related, Row
from crawlers.reports.histories.history import N_
from crawlers.reports.histories.linking_pages import PLACE
from crawlers.store.reading.redirect_chains import broken_ends_of, problems_of
from crawlers.store.reading.url_counts import has_reason, url_kind
from crawlers.store.schema.tables import (
    bad_link,
    external_link,
    external_url,
    link,
    link_anchor,
    link_context,
    page,
    site,
)
from crawlers.store.sites.seeds import bad_link_key
from crawlers.store.streaming import streamed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection, Select

    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.report import Cells, Cursor

PAGE = Column("page", "Page", Kind.URL, page.c.url, "that holds the link")
ANCHOR = Column("anchor", "Text", about="of the link")
LINKS = Column("links", "Links", Kind.COUNT, about="with this target on the page")
_HELD = f"""
    SELECT source_id, target_id, count FROM link JOIN page ON page.id = target_id
    WHERE source_id {{ids}} AND state IN ({State.MOVED:d}, {State.REFUSED:d}, {State.FAILED:d})
    ORDER BY source_id, target_id"""  # noqa: S608


_target = page.alias()


class _LinksOnPages(PageReport):
    """Links by the page that holds them."""

    group = Group.LINKS
    states: ClassVar[tuple[State, ...]] = (State.DONE,)


class InternalLinks(_LinksOnPages):
    """Links from pages to URLs of the same crawl."""

    name = "internal-links"
    title = "Internal links"
    about = "Every link from a page of the crawl to another URL of it, by the page that holds the link."
    columns = (
        PAGE,
        Column("url", "Target", Kind.URL, _target.c.url, "that the link leads to"),
        ANCHOR._replace(value=link_anchor.c.anchor),
        LINKS._replace(value=link.c["count"]),
        Column("level", "Level of the page", Kind.NUMBER, page.c.level, "of the page"),
        Column("target_state", "State", Kind.STATE, url_kind(_target), "of the target"),
        Column("status", "HTTP status", Kind.NUMBER, _target.c.status, "of the target"),
        Column("target_level", "Level of the target", Kind.NUMBER, _target.c.level, "of the target"),
    )
    conditions: ClassVar = {
        "text": in_text(_target.c.url, link_anchor.c.anchor),
        "anchor": in_text(link_anchor.c.anchor),
        "host": lambda host: _target.c.site_id.in_(select(site.c.id).where(is_host(site.c.site, host))),
        "status": equal(_target.c.status),
    }
    cursor_kinds, further = (int,) * 5, 1  # target
    at_once = HOLDERS_AT_ONCE
    link_kind = "internal"

    def statement(self) -> Select[Any]:
        is_text = (link_anchor.c.source_id == link.c.source_id) & (link_anchor.c.target_id == link.c.target_id)
        return (
            select(*self.key, link.c.target_id, *self.values)
            .join(link, link.c.source_id == page.c.id)
            .join(_target, _target.c.id == link.c.target_id)
            .outerjoin(link_anchor, is_text)
        )


class ExternalLinks(_LinksOnPages):
    """Links of pages to URLs of other sites, by page."""

    name = "external-links"
    title = "External links"
    about = (
        "Every link from a page of the crawl to a URL of another site, with its text and its place on the page, and "
        "every redirect to another site, whose place is redirect."
    )
    columns = (
        Column("url", "URL", Kind.URL, external_url.c.url, "that the link leads to"),
        Column("host", "Host", value=external_url.c.site, about="of this URL"),
        ANCHOR._replace(value=link_context.c.anchor),
        Column("position", "Place", Kind.STATE, PLACE, "on the page, as the table link_context has it; or redirect"),
        LINKS._replace(value=external_link.c["count"]),
        PAGE,
        LEVEL,
        Column("status", "Page status", Kind.NUMBER, page.c.status, "of the page"),
        Column("read_at", "Read", Kind.TIME, page.c.fetched_at, "when the page was requested"),
    )
    conditions: ClassVar = {
        "host": lambda host: is_host(external_url.c.site, host),
        "text": in_text(external_url.c.url, link_context.c.anchor),
        "anchor": in_text(link_context.c.anchor),
        "status": equal(page.c.status),
    }
    cursor_kinds, further = (int,) * 6, 2  # URL, context
    states = (State.DONE, State.REFUSED)
    link_kind = "external"

    def statement(self) -> Select[Any]:
        return (
            select(*self.key, external_link.c.url_id, external_link.c.context_id, *self.values)
            .join(external_link, external_link.c.page_id == page.c.id)
            .join(external_url, external_url.c.id == external_link.c.url_id)
            .join(link_context, link_context.c.id == external_link.c.context_id)
        )

    def rows(self, connection: Connection, prefix: Cursor, found: Sequence[Any], filters: Filters) -> Iterator[Row]:
        for row in super().rows(connection, prefix, found, filters):
            url, name, *about = row.cells
            yield row._replace(cells=(url, urlsplit(str(name)).hostname, *about))


class ExternalHosts(ComputedReport):
    """External sites by number of links.

    A link is external if it leaves the site of its page (scheme://host[:port]) and the scope of the crawl has no other
    sites, as in crawls of site graphs and external links: so sites of the crawl may be among those that others link to.
    """

    name = "external-hosts"
    title = "External sites"
    group = Group.LINKS
    about = (
        "The other sites that pages link to, those with the most links first. http and https of a host are two sites; "
        "a link from one site of the crawl to another one is external, too."
    )
    columns = (
        Column("site", "Site", Kind.URL),
        Column("host", "Host"),
        Column("links", "Links", Kind.COUNT),
        Column("urls", "Different URLs", Kind.COUNT),
        Column("in_crawl", "In this crawl", Kind.STATE, about="yes, or empty"),
    )
    scope = frozenset({"site", "host"})

    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        by_url = (
            select(external_link.c.url_id, func.sum(external_link.c["count"]).label("links"))
            .join(page, page.c.id == external_link.c.page_id)
            .where(is_wanted_page(crawl_id, filters, State.DONE, State.REFUSED))
            .group_by(external_link.c.url_id)
            .subquery()
        )
        links = func.sum(by_url.c.links)
        statement = (
            select(external_url.c.site, links, func.count(), func.max(site.c.id))
            .join(by_url, by_url.c.url_id == external_url.c.id)
            .outerjoin(site, (site.c.site == external_url.c.site) & (site.c.crawl_id == crawl_id))
            .where(*([is_host(external_url.c.site, filters.host)] if filters.host else []))
            .group_by(external_url.c.site)
            .order_by(links.desc(), external_url.c.site)
            .limit(self.most + 1)
        )
        for name, number, urls, site_id in connection.execute(statement):
            yield name, urlsplit(name).hostname, int(number), urls, N_("yes") if site_id is not None else None

    def related(self, cells: Cells) -> Related | None:
        return Related("external-links", {"host": str(cells[0])})


class BrokenLinks(_LinksOnPages):
    """Broken links by the page that holds them."""

    name = "broken-links"
    title = "Broken links"
    group = Group.ERRORS
    about = (
        "Links whose targets did not respond, responded with an error or are no URLs, with every page that holds one."
    )
    columns = (
        Column("url", "Target", Kind.URL, about="or the link as it is written, if it is no URL"),
        Column("status", "HTTP status", Kind.NUMBER, about="of the target, or of where it redirects to"),
        Column("reason", "Reason", Kind.REASON, about="why the target can't be loaded"),
        ANCHOR,
        LINKS,
        PAGE,
        LEVEL,
    )
    scope = frozenset({"site", "text", "level", "status", "reason"})
    cursor_kinds, further = (int,) * 6, 2  # links or bad links, target or place
    at_once = HOLDERS_AT_ONCE

    def statement(self) -> Select[Any]:
        return select(*self.key, page.c.url)

    def rows(self, connection: Connection, prefix: Cursor, found: Sequence[Any], filters: Filters) -> Iterator[Row]:
        page_ids = [one.id for one in found]
        links = list(streamed(connection, _HELD, ids=page_ids))
        ends = broken_ends_of(connection, {target for _, target, _ in links})
        held: dict[int, list[tuple[int, int]]] = {}
        for source, target, count in links:
            if target in ends:
                held.setdefault(source, []).append((target, count))
        problems = problems_of(connection, ends, {target for links in held.values() for target, _ in links})
        anchors = select(link_anchor).where(link_anchor.c.source_id.in_(held))
        texts = {(source, target): anchor for source, target, anchor in connection.execute(anchors)}
        bad: dict[int, list[Any]] = {}
        is_broken = bad_link.c.page_id.in_(page_ids) & ~has_reason(bad_link.c.reason, [Reason.OTHER_SCHEME])
        for one in connection.execute(select(bad_link).where(is_broken)):
            bad.setdefault(one.page_id, []).append(one)
        for holder in found:
            place, on_page = self.place(prefix, holder), (holder.url, holder.level)
            rows = [
                Row((*problems[target], texts.get((holder.id, target)), count, *on_page), (*place, 0, target))
                for target, count in held.get(holder.id, ())
            ]
            no_urls = sorted(bad.get(holder.id, ()), key=lambda one: (one.raw, one.reason))
            rows += [
                Row((raw, None, reason, anchor, count, *on_page), (*place, 1, number))
                for number, (_, raw, reason, count, anchor) in enumerate(no_urls)
            ]
            yield from (row for row in rows if _meets(filters, row.cells))

    def related(self, cells: Cells) -> Related | None:
        return links_to(cells[0], self.name)


def _meets(filters: Filters, cells: Cells) -> bool:
    url, status, reason, anchor, *_ = cells
    return (
        filters.text.lower() in f"{url}\n{anchor or ''}".lower()
        and is_about(str(reason or ""), filters.reason)
        and filters.status in (None, status)
    )


class BadLinks(_LinksOnPages):
    """Links that can't be followed."""

    name = "bad-links"
    title = "Bad links"
    group = Group.ERRORS
    about = "What pages link to although it is not the URL of a page: malformed addresses, and schemes such as mailto."
    columns = (
        Column("link", "Link as it is written", value=bad_link.c.raw),
        Column("reason", "Reason", Kind.REASON, bad_link.c.reason, "why it can't be followed"),
        ANCHOR._replace(value=bad_link.c.anchor),
        LINKS._replace(value=bad_link.c["count"]),
        PAGE,
        LEVEL,
    )
    conditions: ClassVar = {
        "text": in_text(bad_link.c.raw, bad_link.c.anchor),
        "anchor": in_text(bad_link.c.anchor),
        "reason": of_reason(bad_link.c.reason),
    }
    cursor_kinds, further = (int,) * 5, 1  # key of the link
    link_kind = "bad"

    def statement(self) -> Select[Any]:
        return select(*self.key, *self.values).join(bad_link, bad_link.c.page_id == page.c.id)

    def rows(self, connection: Connection, prefix: Cursor, found: Sequence[Any], filters: Filters) -> Iterator[Row]:
        keyed = sorted((*one[:2], bad_link_key(one.raw, one.reason), *one[2:]) for one in found)
        return super().rows(connection, prefix, keyed, filters)


def is_about(reason: str | None, text: str) -> bool:
    """Return whether each word of *text* is in a stored *reason* or in the sentence of its code, whatever its case.

    >>> is_about("too_deep 10 9", "Level 10"), is_about("too_deep 10 9", "level 11")
    (True, False)
    """
    stored, code = (reason or "").lower(), code_of(reason)
    return all(word in stored or code in codes_with(word) for word in text.lower().split())
