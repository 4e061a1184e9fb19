"""Turns a page into its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.items import State
from crawlers.store.schema.tables import (
    BadLinkRow,
    EndedPage,
    ExternalLinkRow,
    ExternalUrlRow,
    LinkContextRow,
)
from crawlers.urls.keys import url_key

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from crawlers.items import ExternalLink, LinkText, Page
    from crawlers.store.writing.change_set import ChangeSet

MOST_KNOWN = 20_000  # external URLs, and texts around links; some 500 bytes each


def add_page_rows(
    changes: ChangeSet,
    page: Page,
    known: dict[str, int],
    *,
    attempts: int,
    fetched_at: float | None,
    now: float,
    moved_to: int | None,
) -> None:
    """Add the rows of a page that ended, and of its external and bad links.

    *known* has the numbers of the external URLs, and of the texts around links, that were added before: pages repeat
    them. *fetched_at* and *now* in seconds since 1970; *fetched_at* is None if the page was never requested.
    """
    if len(known) > MOST_KNOWN:
        known.clear()
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
    if page.external:
        _add_external_rows(changes, page.id, page.external, known)
    if page.bad:
        changes.add(*[BadLinkRow(page.id, *bad) for bad in page.bad])


def _add_external_rows(
    changes: ChangeSet, page_id: int, links: Iterable[tuple[ExternalLink, int]], known: dict[str, int]
) -> None:
    """Add the rows of external links of a page, each with the number of its occurrences."""
    counts: dict[tuple[int, int], int] = {}
    for link, count in links:
        url_id = known.get(link.url)
        if url_id is None:
            url_id = known[link.url] = url_key(link.url)
            changes.add(ExternalUrlRow(url_id, link.site, link.url, link.key))
        pair = url_id, _context_id(changes, link[3:], known)
        counts[pair] = counts.get(pair, 0) + count
    changes.add(*[ExternalLinkRow(page_id, *pair, count) for pair, count in counts.items()])


def add_contexts(
    changes: ChangeSet, texts: Iterable[LinkText], keys: Container[int], known: dict[str, int]
) -> list[tuple[int, int]]:
    """Add those of the *texts* of links that lead to *keys*; return key and number of each. For *known* see above."""
    return [(key, _context_id(changes, parts, known)) for key, *parts in texts if key in keys]


def _context_id(changes: ChangeSet, texts: Iterable[str], known: dict[str, int]) -> int:
    """Return the number of the *texts* of a link, whose row is added if they are not *known*."""
    text = "\x1f".join(texts)
    context_id = known.get(text)
    if context_id is None:
        context_id = known[text] = url_key(text)
        changes.add(LinkContextRow(context_id, *texts))
    return context_id
