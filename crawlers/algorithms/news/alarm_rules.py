"""Detects problems of a news crawl that need attention: feeds and sources that are gone, silent, or not understood."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

DAY_S = 86_400.0
DEAD_FEED, UNREACHABLE = "dead feed", "source unreachable"
SILENT, EXTRACTION, DISCOVERY = "silent source", "failing extraction", "no discovery"

MANY_TIMES = 10  # times the usual interval: shorter silences are normal
LEAST_PAGES = 20  # per day: with fewer pages a share of them is not significant
LEAST_SHARE = 0.2  # of a day's pages that look like articles: at least that many must become documents
LEAST_DOCUMENTS = 5  # of a site: with fewer it is not known as a source


REMEDIES = {
    DEAD_FEED: (
        "look at it in a browser, and remove it (scrapy sites remove-feed) or give its new address "
        "(scrapy sites add-feed)"
    ),
    UNREACHABLE: (
        "neither its start page nor any of its feeds can be had; see whether it is still there and lets robots in, and "
        "give its new address, or take it out (scrapy sites disable, or without it in sources.yaml)"
    ),
}


class Limits(NamedTuple):
    """How long a condition may last before it is an alarm, in seconds."""

    dead_feed_s: float = DAY_S
    silent_s: float = 3 * DAY_S
    discovery_s: float = 2 * DAY_S
    unreachable_s: float = DAY_S


class Failing(NamedTuple):
    """A feed or sitemap without results; or a source none of whose feeds and start pages has results."""

    subject: str  # its URL, or the source's site
    since: float
    problem: str
    kind: str = DEAD_FEED  # or UNREACHABLE


class SiteHealth(NamedTuple):
    """A site that has documents, or pages that look like articles; times in seconds since 1970."""

    site: str
    published: Sequence[float] = ()  # when its latest documents were published, or stored if that is not known
    failed: int = 0  # pages of the last day that look like articles and became no document, and one of the reasons
    reason: str = ""
    stored: int = 0  # documents of the last day
    discovered_at: float | None = None  # when a poll last found something new; None: nothing is polled
    answered_at: float | None = None  # when a poll last got a response


class Alarm(NamedTuple):
    """A condition that needs attention; *kind* and *subject* identify it."""

    kind: str
    subject: str
    message: str  # what, and what to do


class Pause(NamedTuple):
    """The time in which the crawl was stopped."""

    began_at: float = 0.0
    ended_at: float = 0.0

    def watched_s(self, since: float, now: float) -> float:
        """Return how long the crawl ran between *since* and *now*.

        >>> Pause(100.0, 160.0).watched_s(90.0, 200.0), Pause(100.0, 160.0).watched_s(170.0, 200.0)
        (50.0, 30.0)
        """
        return now - since - max(0.0, self.ended_at - max(since, self.began_at))


def patience_s(published: Sequence[float], least_s: float) -> float:
    """Return how long a source may be silent: *least_s*, or ten times the usual interval between two of its documents.

    >>> patience_s([0.0, 60.0, 120.0], 3600.0), patience_s([0.0, 60.0, 120.0], 10.0)
    (3600.0, 600.0)
    """
    times = sorted(published)
    gaps = [after - before for before, after in pairwise(times)]
    return max(least_s, MANY_TIMES * median(gaps)) if gaps else least_s


def alarms_of(
    failing: Iterable[Failing], sites: Iterable[SiteHealth], limits: Limits, now: float, pause: Pause
) -> list[Alarm]:
    """Return all alarms at *now*; time in which the crawl was stopped does not count."""
    longest_s = {DEAD_FEED: limits.dead_feed_s, UNREACHABLE: limits.unreachable_s}
    found = [
        Alarm(one.kind, one.subject, f"{one.problem or 'it gives no answer'}; {REMEDIES[one.kind]}")
        for one in failing
        if pause.watched_s(one.since, now) >= longest_s[one.kind]
    ]
    for site in sites:
        found += _of_site(site, limits, now, pause)
    return found


def _of_site(site: SiteHealth, limits: Limits, now: float, pause: Pause) -> Iterator[Alarm]:
    if site.failed + site.stored >= LEAST_PAGES and site.stored < LEAST_SHARE * (site.failed + site.stored):
        yield Alarm(
            EXTRACTION,
            site.site,
            f"of {site.failed + site.stored} pages of the last day that look like articles {site.stored} became "
            f"documents, the others not ({site.reason}); the site may have a new layout: give it content rules "
            "(content: in sources.yaml), or see what its rules take (scrapy sites test-rule)",
        )
    if len(site.published) < LEAST_DOCUMENTS:
        return
    silent_s = pause.watched_s(max(site.published), now)
    if silent_s >= patience_s(site.published, limits.silent_s):
        yield Alarm(
            SILENT,
            site.site,
            f"no article of the last {silent_s / DAY_S:.1f} days; see whether the site still publishes, and what its "
            "feeds say (scrapy sites feeds)",
        )
    if site.discovered_at is None or site.answered_at is None or site.answered_at < now - DAY_S:
        return  # a site that does not respond has other problems
    lost_s = pause.watched_s(site.discovered_at, now)
    if lost_s >= patience_s(site.published, limits.discovery_s):
        yield Alarm(
            DISCOVERY,
            site.site,
            f"it answers, and nothing on it was new for {lost_s / DAY_S:.1f} days; see whether its feeds and its home "
            "page still show new articles, and whether their links can be seen without scripts",
        )
