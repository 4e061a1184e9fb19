"""What is read of a site before its pages: its robots.txt, which says what is forbidden, and its sitemaps.

Sitemaps are read before the first page of a site, one after the other, at the address at which it is crawled. So while
any of them is unread, a page of the site waits, and whatever lets a crawl go on, or another worker claim a site, holds
for its sitemaps as well. What they list is compared with the pages, and never becomes a page.

Sitemaps are those that robots.txt names, else /sitemap.xml. If the home page redirects to another address, that one's
are read.

References
----------
.. [1] Sitemaps XML format, https://www.sitemaps.org/protocol.html
.. [2] RFC 9309 (2022), Robots Exclusion Protocol, section 2.2.4 (other records).
"""

from __future__ import annotations

import logging
import math
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from crawlers.errors import BadUrl
from crawlers.pages.retries import RestPolicy
from crawlers.pages.robots_groups import is_unreachable
from crawlers.reasons import Reason
from crawlers.sites.robots_rules import RobotsCache, RobotsRules, sitemaps_of_robots
from crawlers.store.reading.queries import robots_of, sitemaps_of
from crawlers.store.schema.tables import SitemapRow, SitemapState, SitemapUrlRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.keys import url_key
from crawlers.urls.resolution import resolve, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crawlers.crawl.open_sites import OpenSites, Trials
    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.stats import CrawlStats
    from crawlers.frontier.values import Lease
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.pages.response import WebResponse
    from crawlers.store.sites.site_opening import SiteRow
    from crawlers.urls.url_filter import UrlFilter

logger = logging.getLogger(__name__)

LONGEST_REST = 48  # first rests, 4 hours by default: until a robots.txt that was given up is requested again
MAX_AGE_S = 86_400.0  # RFC 9309 section 2.4: a robots.txt should not be used longer than a day


class RobotsNeeded(NamedTuple):
    """The robots.txt of an address of a site must be fetched before its pages; see `HostAnswers`."""

    site_id: int
    address: str  # scheme://host[:port]


class RobotsPolicy:
    """The robots.txt of *sites*; *token* is the product token for which its rules apply."""

    def __init__(self, session: CrawlSession, sites: OpenSites, settings: SettingValues, token: str) -> None:
        self._session = session
        self._sites = sites
        self._addresses = session.addresses
        self.are_obeyed = settings.getbool("ROBOTSTXT_OBEY")
        self._token = token
        self._longest_delay_s = settings.getfloat("ROBOTS_MAX_DELAY_SECONDS")
        self._longest_rest_s = LONGEST_REST * (settings.getfloat("ROBOTS_REST_SECONDS") or RestPolicy().first_s)
        self._known: set[str] = set()  # addresses with a known robots.txt
        self._asked: dict[int, str] = {}  # addresses whose robots.txt was needed last, by site
        self._ask_again_at: dict[str, float] = {}  # for inaccessible ones
        self._rules = RobotsCache()  # others are parsed again from their rows

    def recall(self, row: SiteRow, now: float) -> None:
        """Apply what is stored of a site that was opened: its rules, its delay, and the rest that its host wishes."""
        is_known = row.robots_status is not None and not is_unreachable(row.robots_status)
        # A clock that was set back since then must not extend the age.
        if is_known and row.robots_status is not None and 0.0 <= now - (row.robots_at or 0.0) < MAX_AGE_S:
            self._keep(row.site, RobotsRules(row.robots_status, row.robots_text, self._token))
        self._apply_delay(row.id, row.site)
        if row.asked_at is not None:
            # While robots.txt can't be read, that is no wish of the host: another run requests it at once.
            is_wish = row.rest_until is not None and (is_known or row.robots_status is None)
            rest_until = row.rest_until if is_wish and row.rest_until is not None else -math.inf
            site = self._session.frontier.site(row.id)
            site.gate.resume(min(row.asked_at, now), rest_until, now)  # a clock that was set back must not make it wait
            self._session.frontier.schedule.reschedule(site, now)

    def forget_site(self, site_id: int) -> None:
        """Forget a site that is being closed."""
        row = self._sites.rows[site_id]
        self._known.difference_update(row.addresses)
        for address in row.addresses:
            self._ask_again_at.pop(address, None)
        self._asked.pop(site_id, None)

    def needed(self, site_id: int, address: str, now: float) -> RobotsNeeded | None:
        """Return the robots.txt of an *address* of a site, if it is needed before a request there."""
        if now >= self._ask_again_at.get(address, math.inf):
            del self._ask_again_at[address]
            self._known.discard(address)
        if not self.are_obeyed or address in self._known:
            return None
        self._asked[site_id] = address
        return RobotsNeeded(site_id, address)

    def address_of(self, lease: Lease) -> str:
        """Return the address of the site from which the leased URL is requested."""
        site = self._sites.rows[lease.site_id].site
        if not self._addresses.version:
            return site
        address = site_of(lease.url)
        return address if self._addresses.site(address) == site else site

    def begin(self, site_id: int) -> bool:
        """Return whether the robots.txt of a site is still needed; it is `fetching` from now on."""
        is_needed = site_id in self._asked
        if is_needed:
            self._sites.fetching.add(site_id)
        return is_needed

    def address(self, site_id: int) -> str:
        """Return the address of the site whose robots.txt was needed last."""
        return self._asked.get(site_id, self._sites.rows[site_id].site)

    def record(self, site_id: int, status: int, text: str | None) -> None:
        """Apply the robots.txt that the site needed from now on; if it is inaccessible, for a limited time."""
        address = self.address(site_id)
        self._asked.pop(site_id, None)
        self._sites.fetching.discard(site_id)
        self._keep(address, RobotsRules(status, text, self._token))
        if is_unreachable(status):
            self._ask_again_at[address] = self._session.clock() + self._longest_rest_s
        self._apply_delay(site_id, address)

    def reason_against(self, address: str, url: str) -> str | None:
        """Return why robots.txt of *address* forbids *url*, or None."""
        rules = self._rules_of(address) if self.are_obeyed else None
        return None if rules is None else rules.reason_against(url)

    def verdict(self, address: str, url: str) -> str | Callable[[], Callable[[], None]] | None:
        """Return why robots.txt of *address* forbids *url*, or None.

        If the rules are in the store only, a query of it is returned instead. Any thread may call it before the lease
        of *url* ends; it returns a function that takes up what was found, after which this is to be asked again.
        """
        if not self.are_obeyed:
            return None
        rules = self._rules.get(address)
        if rules is None and address in self._known:
            return partial(self._read_rules, address)
        return None if rules is None else rules.reason_against(url)

    def knows(self, address: str) -> bool:
        """Return whether the robots.txt of *address* is known to be readable, or not."""
        return address in self._known

    def _keep(self, address: str, rules: RobotsRules) -> None:
        self._known.add(address)
        for dropped in self._rules.keep(address, rules):
            if dropped not in self._sites.ids:
                self._known.discard(dropped)  # it is not stored, so it is requested again

    def _rules_of(self, address: str) -> RobotsRules | None:
        if address in self._known and self._rules.get(address) is None:
            self._read_rules(address)()
        return self._rules.get(address)

    def _read_rules(self, address: str) -> Callable[[], None]:
        self._session.writer.flush()
        stored = robots_of(self._session.database, self._sites.ids[address])

        def take_up() -> None:
            if stored is not None:
                self._keep(address, RobotsRules(*stored, self._token))

        return take_up

    def _apply_delay(self, site_id: int, address: str) -> None:
        """Apply the Crawl-delay to the gate of the site, up to ROBOTS_MAX_DELAY_SECONDS."""
        if self.are_obeyed and (rules := self._rules_of(address)) is not None and rules.crawl_delay_s:
            delay_s = min(rules.crawl_delay_s, self._longest_delay_s)
            self._session.frontier.site(site_id).gate.ask_for_delay(delay_s)


MAX_SILENT = 2  # sitemaps without a response, one after the other; then the rest of them is not requested
USUAL_PLACE = "/sitemap.xml"


class SitemapContent(NamedTuple):
    """What a sitemap says about its site; *kind* is empty if it is none, or could not be read."""

    kind: str = ""
    listed: Sequence[SitemapUrlRow] = ()
    outside: int = 0  # URLs of other sites, and those that the crawl leaves out
    named: Sequence[str] = ()  # the sitemaps of an index
    problem: str = ""


class SitemapNeeded(NamedTuple):
    """A sitemap of a site is to be requested before its pages; see `SiteSitemaps.record_response`."""

    site_id: int
    url: str


@dataclass(slots=True)
class _Reading:
    """The sitemaps of a site that are being read."""

    address: str
    waiting: deque[SitemapRow] = field(default_factory=deque)  # in the order in which they are read
    changed: list[SitemapRow] = field(default_factory=list)  # since rows were stored
    known: set[int] = field(default_factory=set)  # keys
    urls: int = 0
    silent: int = 0  # latest ones without a response

    def add(self, row: SitemapRow) -> None:
        self.known.add(row.key)
        self.changed.append(row)
        if row.state == SitemapState.WAITING:
            self.waiting.append(row)

    def take_changes(self) -> list[SitemapRow]:
        changed, self.changed = self.changed, []
        return changed


MOST_FILES = 100  # sitemaps of a site, indexes among them; pages wait until all are read
MOST_URLS = 1_000_000  # of the sitemaps of a site, some 100 bytes each in the store


@dataclass(eq=False)
class SiteSitemaps:
    """Reads at most `MOST_FILES` sitemaps of a site, and at most `MOST_URLS` URLs of them; none unless *is_enabled*.

    *url_filter* decides which URLs are left out.
    """

    session: CrawlSession
    sites: OpenSites
    robots: RobotsPolicy
    trials: Trials
    stats: CrawlStats
    url_filter: UrlFilter
    is_enabled: bool

    def __post_init__(self) -> None:
        self._readings: dict[int, _Reading] = {}  # by site
        self._named: dict[int, list[str]] = {}  # what robots.txt names, until the reading begins
        self._read: dict[int, str] = {}  # the addresses of sites whose sitemaps were read
        self.turns: dict[int, int] = {}  # by site, the page in whose place a sitemap is requested

    def load(self, rows: Sequence[SiteRow]) -> Callable[[], None]:
        """Read which sitemaps of stored sites were read; may be called in any thread. Raises `StoreError`.

        Returns a function that takes it up, before the first page of these sites is requested.
        """
        stored = [row for row in rows if not row.is_new]
        if not self.is_enabled or not stored:
            return lambda: None
        found = sitemaps_of(self.session.database, [row.id for row in stored])

        def take_up() -> None:
            for row in stored:
                self._recall(row, [one for one in found.get(row.id, ()) if one.address == row.address])

        return take_up

    def _recall(self, row: SiteRow, sitemaps: Sequence[SitemapRow]) -> None:
        if not sitemaps:
            return  # they were not begun
        reading = _Reading(row.address)
        for one in sitemaps:
            reading.known.add(one.key)
            reading.urls += one.urls
            if one.state == SitemapState.WAITING:
                reading.waiting.append(one)
        if reading.waiting:
            self._readings[row.id] = reading
        else:
            self._read[row.id] = row.address

    def forget_site(self, site_id: int) -> None:
        """Forget a site."""
        self._readings.pop(site_id, None)
        self._named.pop(site_id, None)
        self._read.pop(site_id, None)

    def record_robots(self, site_id: int, address: str, named: list[str]) -> None:
        """Note the sitemaps that the robots.txt of an *address* of a site names."""
        if self.is_enabled and address != self._read.get(site_id) and address == self.sites.rows[site_id].address:
            self._named[site_id] = named

    def wait(self, site_id: int) -> bool:
        """Return whether sitemaps of a site have yet to be read."""
        return self.is_enabled and self._read.get(site_id) != self.sites.rows[site_id].address

    def take_turn(self, lease: Lease, now: float) -> SitemapNeeded | RobotsNeeded | None:
        """Return what must be requested in place of *lease*, because sitemaps of its site `wait`; None if nothing."""
        site_id = lease.site_id
        row = self.sites.rows[site_id]
        if (robots := self.robots.needed(site_id, row.address, now)) is not None:
            return robots
        reading = self._readings.get(site_id)
        if reading is None or reading.address != row.address:
            reading = self._readings[site_id] = self._start_reading(row)
        while reading.waiting:
            first = reading.waiting[0]
            reason = self._reason_against(reading, first)
            if reason is None:
                self.trials.record_request(site_id, lease.id)
                self.turns[site_id] = lease.id
                self.sites.fetching.add(site_id)
                return SitemapNeeded(site_id, first.url)  # the rows are stored with what it says
            reading.waiting.popleft()
            reading.changed.append(first._replace(state=SitemapState.UNREAD, reason=reason))
        self._end(site_id, reading)
        if changed := reading.take_changes():
            self.session.writer.submit(ChangeSet(*changed))
        return None

    def record_request(self, site_id: int) -> None:
        """Note that the request for a sitemap of a site is sent now."""
        if site_id in self.turns:
            self.session.frontier.site(site_id).gate.record_request(self.session.clock())

    def _reason_against(self, reading: _Reading, row: SitemapRow) -> str | None:
        if reading.silent >= MAX_SILENT:
            return Reason.SITEMAPS_SILENT
        if reading.urls >= MOST_URLS:
            return Reason.SITEMAPS_FULL.of(reading.urls)
        return self.robots.reason_against(reading.address, row.url)

    def _start_reading(self, row: SiteRow) -> _Reading:
        reading = _Reading(row.address)
        named = self._named.pop(row.id, None)
        if named is None:  # robots.txt was read by an earlier run
            is_its = self.robots.are_obeyed and row.robots_status == 200 and row.address == row.site
            named = sitemaps_of_robots(row.robots_text or "", row.address) if is_its else []
        self._name(reading, row, named or [f"{row.address}{USUAL_PLACE}"], None)
        return reading

    def _name(self, reading: _Reading, row: SiteRow, urls: Iterable[str], index: SitemapRow | None) -> int:
        """Add the sitemaps at *urls*; return how many are too many."""
        left_out = []
        for named in urls:
            place = self._place(row, named)
            url = named if place is None else place
            if (key := url_key(url)) in reading.known:
                continue
            if len(reading.known) >= MOST_FILES:
                left_out.append(url)
                continue
            reason = Reason.SITEMAP_OF_OTHER_SITE if place is None else None
            state = SitemapState.WAITING if reason is None else SitemapState.UNREAD
            found_in = (reading.address, len(reading.known), None if index is None else index.key)
            reading.add(SitemapRow(row.id, key, url, *found_in, state, reason=reason))
        if left_out:
            logger.warning(
                "%s names more than %d sitemaps: %s and others are not read", row.site, MOST_FILES, left_out[0]
            )
        return len(left_out)

    def _place(self, row: SiteRow, url: str) -> str | None:
        """Return where the sitemap at *url* is requested, at the address of its site; None if it is on another one.

        That of http://www.example.org stands at https://example.org, too: robots.txt often outlives a move of its site.
        """
        try:
            target = resolve(url, "", self.session.options)
        except BadUrl:
            return None
        if _plain(target.site) not in map(_plain, row.addresses):
            return None
        parts = urlsplit(target.url)
        return f"{row.address}{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"

    def may_follow(self, site_id: int, url: str) -> bool:
        """Return whether a sitemap that redirects to *url* is requested there: at the same address, by robots.txt."""
        address = self.sites.rows[site_id].address
        return site_of(url) == address and self.robots.reason_against(address, url) is None

    async def content(self, site_id: int, response: WebResponse) -> SitemapContent:
        """Return the content of a sitemap, read in another thread."""
        key, now = self._readings[site_id].waiting[0].key, self.session.clock()
        return await self.session.reader.run(partial(self._content, site_id, key, response, now))

    def _content(self, site_id: int, key: int, response: WebResponse, now: float) -> SitemapContent:
        from crawlers.sites.feed_items import MAX_ITEMS
        from crawlers.sites.feed_reader import read_feed  # which few crawls need

        row = self.sites.rows[site_id]
        here = self.session.addresses.of_site(resolve(f"{row.site}/", "", self.session.options)).site
        found = read_feed(response.body, response.url, response.content_type, now)
        if not found.kind:
            return SitemapContent(problem=Reason.NOT_A_SITEMAP)
        listed: dict[int, SitemapUrlRow] = {}
        outside = 0
        for item in found.items:
            try:
                target = self.session.addresses.of_site(resolve(item.url, "", self.session.options))
            except BadUrl:
                outside += 1
                continue
            if target.site != here or self.url_filter.leaves_out(target):
                outside += 1
            else:
                row_of_url = SitemapUrlRow(site_id, target.key, target.url, key, item.published_at)
                listed.setdefault(target.key, row_of_url)
        problem = Reason.FILE_CUT if response.is_truncated else found.problem
        if not problem and max(len(found.items), len(found.further)) >= MAX_ITEMS:
            problem = Reason.MANY_ENTRIES.of(MAX_ITEMS)
        return SitemapContent(found.kind, list(listed.values()), outside, found.further, problem)

    def record_response(self, site_id: int, status: int, content: SitemapContent) -> None:
        """Store what the sitemap of a site says, or the problem with it; the site goes on.

        *status* is 0 if there was no response.
        """
        page_id = self.turns.pop(site_id, None)
        if page_id is None or self.session.control.failure is not None or self.session.writer.is_closed:
            return
        now = self.session.clock()
        try:
            self.trials.record_result(site_id, page_id, responded=status > 0)
            self.sites.fetching.discard(site_id)
            self.session.writer.submit(self._read_by(site_id, status, content, now))
            if content.kind:
                self.stats.inc_value("sitemaps/read")
            else:
                self.stats.inc_value("sitemaps/unread")
            self.session.frontier.schedule.resume(site_id, now)
        except Exception as error:
            self.session.control.abort_for("a sitemap can't be stored", error)

    def _read_by(self, site_id: int, status: int, content: SitemapContent, now: float) -> ChangeSet:
        """Return what is to be stored of the sitemap whose turn it was."""
        changes = ChangeSet()
        reading, site = self._readings[site_id], self.sites.rows[site_id]
        row = reading.waiting.popleft()._replace(status=status or None, read_at=now)
        reading.silent = 0 if status else reading.silent + 1
        if not content.kind:
            reading.changed.append(row._replace(state=SitemapState.UNREAD, reason=content.problem))
        else:
            left_out = self._name(reading, site, content.named, row)
            listed = content.listed[: max(0, MOST_URLS - reading.urls)]
            reading.urls += len(listed)
            cut = len(content.listed) - len(listed)
            limits = Reason.BEYOND_LIMITS.of(left_out, cut) if left_out or cut else None
            reading.changed.append(
                row._replace(
                    state=SitemapState.READ,
                    kind=content.kind,
                    reason=content.problem or limits,
                    urls=len(listed),
                    outside=content.outside,
                    cut=cut + left_out,
                )
            )
            changes.add(*listed)
        changes.add(*reading.take_changes())  # with those that wait now, so that a crawl that goes on reads them
        if not reading.waiting:
            self._end(site_id, reading)
        return changes

    def _end(self, site_id: int, reading: _Reading) -> None:
        self._read[site_id] = reading.address
        del self._readings[site_id]


def _plain(site: str) -> str:
    """Return the address *site* without its scheme, and without www."""
    return site.partition("://")[2].removeprefix("www.")
