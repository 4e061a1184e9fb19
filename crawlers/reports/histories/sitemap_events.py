"""Tells when a sitemap of its site was found to list a URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.reports.histories.history import Event, Line, Moment, Topic, Url, line, said
from crawlers.storage.stored_sitemaps import listing_of

if TYPE_CHECKING:
    from sqlalchemy import Connection


def sitemap_events(connection: Connection, site_id: int, key: int) -> list[Event]:
    """Return the first sitemap of a site that lists the page *key*; nothing if none does."""
    found = listing_of(connection, site_id, key)
    if found is None or found.read_at is None:
        return []
    further = (
        [] if found.modified_at is None else [line("last change, as listed: %(at)s", at=Moment(found.modified_at))]
    )
    sentence = said("listed in the sitemap %(sitemap)s", sitemap=Url(found.sitemap))
    return [Event(found.read_at, Topic.FOUND, Line(sentence, tuple(further)))]
