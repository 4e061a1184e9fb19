"""Detects problems of a news crawl that need attention: feeds and sources that fail, are silent, or yield nothing."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from crawlers.plurals import counted
from crawlers.reasons import Reason, sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HOUR_S, DAY_S = 3600.0, 86_400.0
DEAD_FEED, UNREACHABLE = "dead feed", "source unreachable"
SILENT, EXTRACTION, DISCOVERY = "silent source", "failing extraction", "no discovery"

SILENCE_FACTOR = 10  # times the usual interval: shorter silences are normal
MIN_PAGES = 20  # per day: with fewer pages, the share of documents is not significant
MIN_SHARE = 0.2  # of the pages of a day that look like articles must become documents
MIN_DOCUMENTS = 5  # of a site: with fewer, its usual interval is unknown

REMEDIES = {
    DEAD_FEED: (
        "open it in a browser; remove it (scrapy sites remove-feed), or add its new URL (scrapy sites add-feed)"
    ),
    UNREACHABLE: (
        "neither the start URL nor any feed can be fetched; check whether the source still exists and allows robots, "
        "then correct its URL, or remove the source (scrapy sites disable, or delete it from sources.yaml)"
    ),
}


DISCOVERY_SHARE = 2 / 3  # of the time of silence


class Limits(NamedTuple):
    """How long a condition may last before it raises an alarm, in seconds."""

    failing_s: float = DAY_S  # a feed, or the start URL and all feeds of a source
    silent_s: float = 3 * DAY_S  # a source, without a new article

    @property
    def discovery_s(self) -> float:
        """Without a new URL: new URLs come before articles, so their absence is noticed earlier."""
        return DISCOVERY_SHARE * self.silent_s


class Failing(NamedTuple):
    """A feed or sitemap that fails, or a source whose start URLs and feeds all fail."""

    subject: str  # URL of the feed, or site of the source
    since: float  # seconds since 1970
    problem: str  # of the last attempt; empty: no response
    kind: str = DEAD_FEED  # or UNREACHABLE


class SiteHealth(NamedTuple):
    """The recent activity of a site with documents or likely articles; times are in seconds since 1970."""

    site: str
    published: Sequence[float] = ()  # publication times of its latest documents; time of storage if unknown
    failed: int = 0  # pages of the last day that look like articles but did not become documents
    reason: str = ""  # of one of these pages
    stored: int = 0  # documents of the last day
    discovered_at: float | None = None  # when a poll last found something new; None: nothing is polled
    responded_at: float | None = None  # when a poll last got a response


class Alarm(NamedTuple):
    """A condition that needs attention."""

    kind: str
    subject: str
    message: str  # what is wrong; what to do

    @property
    def identity(self) -> tuple[str, str]:
        """What it is about."""
        return self.kind, self.subject


class Pause(NamedTuple):
    """The time during which the crawl was stopped; empty by default."""

    began_at: float = 0.0
    ended_at: float = 0.0

    def watched_s(self, since: float, now: float) -> float:
        """Return how long the crawl ran between *since* and *now*.

        >>> Pause(100.0, 160.0).watched_s(90.0, 200.0), Pause(100.0, 160.0).watched_s(170.0, 200.0)
        (50.0, 30.0)
        """
        return now - since - max(0.0, self.ended_at - max(since, self.began_at))


def _days(seconds: float) -> str:
    return counted(max(1, round(seconds / DAY_S)), "day")


def longest_silence_s(published: Sequence[float], least_s: float) -> float:
    """Return how long a source may be silent: `SILENCE_FACTOR` times its usual interval, at least *least_s* seconds.

    The usual interval is the median of those between its documents, which were *published* at these times.

    >>> longest_silence_s([0.0, 60.0, 120.0], 3600.0), longest_silence_s([0.0, 60.0, 120.0], 10.0)
    (3600.0, 600.0)
    """
    times = sorted(published)
    gaps = [after - before for before, after in pairwise(times)]
    return max(least_s, SILENCE_FACTOR * median(gaps)) if gaps else least_s


def alarms_of(
    failing: Iterable[Failing], sites: Iterable[SiteHealth], limits: Limits, now: float, pause: Pause
) -> list[Alarm]:
    """Return all alarms at *now*; the time of *pause*, when the crawl was stopped, does not count."""
    found = [
        Alarm(
            failure.kind,
            failure.subject,
            f"{sentence(failure.problem or Reason.NO_RESPONSE)}; {REMEDIES[failure.kind]}",
        )
        for failure in failing
        if pause.watched_s(failure.since, now) >= limits.failing_s
    ]
    for site in sites:
        found += _of_site(site, limits, now, pause)
    return found


def _of_site(site: SiteHealth, limits: Limits, now: float, pause: Pause) -> Iterator[Alarm]:
    pages = site.failed + site.stored
    if pages >= MIN_PAGES and site.stored < MIN_SHARE * pages:
        yield Alarm(
            EXTRACTION,
            site.site,
            f"{site.stored} of the {pages} pages of the last day that look like articles became documents, the others "
            f"failed (for example: {sentence(site.reason)}); if the site has a new layout, add content rules "
            "(content: in sources.yaml), otherwise check which URLs its rules match (scrapy sites test-rule)",
        )
    if len(site.published) < MIN_DOCUMENTS:
        return
    silent_s = pause.watched_s(max(site.published), now)
    if silent_s >= longest_silence_s(site.published, limits.silent_s):
        yield Alarm(
            SILENT,
            site.site,
            f"no new article for {_days(silent_s)}; check whether the site still publishes, and the state of "
            "its feeds (scrapy sites feeds)",
        )
    if site.discovered_at is None or site.responded_at is None or site.responded_at < now - DAY_S:
        return  # a site that does not respond has other problems
    idle_s = pause.watched_s(site.discovered_at, now)
    if idle_s >= longest_silence_s(site.published, limits.discovery_s):
        yield Alarm(
            DISCOVERY,
            site.site,
            f"the site responds, but nothing new was found for {_days(idle_s)}; check whether its feeds and "
            "its home page still show new articles, and whether their links are visible without JavaScript",
        )
