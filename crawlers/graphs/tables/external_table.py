"""The external URLs to which sites link, with the first page that links to each."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawlers.storage.streaming import streamed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawlers.storage.database import Database
    from crawlers.storage.files.cells import Value

COLUMNS = ("url", "host", "first_page", "anchor", "pages", "links")
# A link with a text comes before one without, because an image or a redirect says less.
_LINKS = """
    SELECT u.site, u.url, f.page, f.anchor, f.pages, f.links FROM (
        SELECT e.url_id, p.url AS page, k.anchor,
            row_number() OVER (PARTITION BY e.url_id ORDER BY p.level, p.url {c}, k.anchor = '', k.anchor {c}) AS place,
            dense_rank() OVER (PARTITION BY e.url_id ORDER BY p.id)
                + dense_rank() OVER (PARTITION BY e.url_id ORDER BY p.id DESC) - 1 AS pages,
            sum(e.count) OVER (PARTITION BY e.url_id) AS links
        FROM page p JOIN external_link e ON e.page_id = p.id JOIN link_context k ON k.id = e.context_id
        WHERE p.site_id {ids}
    ) f JOIN external_url u ON u.id = f.url_id WHERE f.place = 1 ORDER BY u.site {c}, u.url {c}"""


def external_rows(database: Database, site_ids: Collection[int]) -> Iterator[list[Value]]:
    """Yield the rows of the table of some sites, by host and URL; the database sorts them, in files if needed."""
    with database.read() as connection:
        for site, url, page, anchor, pages, links in streamed(connection, _LINKS, ids=site_ids):
            yield [url, urlsplit(site).hostname, page, anchor, pages, links]
