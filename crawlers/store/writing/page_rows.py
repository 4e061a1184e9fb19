"""Turns a page into its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.items import State
from crawlers.store.schema.score_tables import LinkTextRow
from crawlers.store.schema.tables import (
    BadLinkRow,
    EndedPage,
    ExternalLinkRow,
    ExternalUrlRow,
    LinkContextRow,
)
from crawlers.urls.keys import url_key

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from crawlers.items import ExternalLink, LinkText, Page
    from crawlers.store.writing.change_set import ChangeSet


def add_page_rows(
    changes: ChangeSet, page: Page, *, attempts: int, fetched_at: float | None, now: float, moved_to: int | None
) -> None:
    """Add the rows of a page that ended, and of its external and bad links.

    *fetched_at* and *now* in seconds since 1970; *fetched_at* is None if the page was never requested.
    """
    changes.add(
        EndedPage(
            page.id,
            int(page.state),
            page.reason or None,
            attempts,
            fetched_at,
            now,
            page.status or None,
            moved_to,
            page.content_hash.hex() or None,
            page.content_signature or None,
            page.title or None,
            page.canonical or None,
            page.content_type or None,
            page.size_bytes,
            page.etag or None,
            page.last_modified or None,
            latency_s=page.latency_s,
            is_indexable=page.is_indexable if page.state is State.DONE else None,
        )
    )
    add_external_rows(changes, page.id, page.external)
    changes.add(*[BadLinkRow(page.id, *bad) for bad in page.bad])


def add_external_rows(changes: ChangeSet, page_id: int, links: Iterable[tuple[ExternalLink, int]]) -> None:
    """Add the rows of external links of a page, each with the number of its occurrences."""
    counts: dict[tuple[int, int], int] = {}
    urls: dict[int, ExternalUrlRow] = {}
    contexts: dict[int, LinkContextRow] = {}
    for link, count in links:
        url_id = url_key(link.url)
        texts = link[3:]
        context_id = _context_id(texts)
        urls[url_id] = ExternalUrlRow(url_id, link.site, link.url, link.key)
        contexts[context_id] = LinkContextRow(context_id, *texts)
        pair = (url_id, context_id)
        counts[pair] = counts.get(pair, 0) + count
    changes.add(*urls.values(), *contexts.values())
    changes.add(*[ExternalLinkRow(page_id, *pair, count) for pair, count in counts.items()])


def add_link_texts(
    changes: ChangeSet, page_id: int, texts: Iterable[LinkText], ids: Mapping[int, int], elsewhere: Container[int]
) -> dict[int, list[int]]:
    """Add the *texts* of the links of a page; *ids* are the numbers of the linked pages by URL key.

    Returns the numbers of the texts of links to pages *elsewhere*, by key. Those of others are left out.
    """
    others: dict[int, list[int]] = {}
    for key, *parts in texts:
        if key in ids or key in elsewhere:
            context_id = _context_id(parts)
            changes.add(LinkContextRow(context_id, *parts))
            if key in ids:
                changes.add(LinkTextRow(page_id, ids[key], context_id))
            else:
                others.setdefault(key, []).append(context_id)
    return others


def _context_id(texts: Iterable[str]) -> int:
    return url_key("\x1f".join(texts))
