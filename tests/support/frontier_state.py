"""What a frontier knows of the pages of its open sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlers.frontier.frontier import QueuedFrontier
    from crawlers.items import State


def counts_of(frontier: QueuedFrontier) -> dict[int, dict[State, int]]:
    """Return the numbers of pages by site id and state; leased ones count as waiting."""
    return {site.id: {s: n for s, n in site.counts.items() if n} for site in frontier.schedule.sites.values()}


def pending_of(frontier: QueuedFrontier) -> int:
    """Return the number of URLs that wait and are not leased."""
    return sum(site.pending for site in frontier.schedule.sites.values())
