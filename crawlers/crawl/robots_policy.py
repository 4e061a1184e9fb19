"""The robots.txt of the open sites of a run: which one is needed, and what it forbids."""

from __future__ import annotations

import math
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from crawlers.pages.retries import RestPolicy
from crawlers.pages.robots_groups import is_unreachable
from crawlers.sites.robots_rules import RobotsRules
from crawlers.store.reading.queries import robots_of
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.crawl.open_sites import OpenSites
    from crawlers.crawl.session import CrawlSession
    from crawlers.frontier.values import Lease
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.store.sites.site_opening import SiteRow

MAX_FILES, MAX_LINES = 5_000, 500_000  # lines of all files, some 300 bytes each
LONGEST_REST = 48  # first rests, 4 hours by default: until a robots.txt that was given up is requested again
MAX_AGE_S = 86_400.0  # RFC 9309 section 2.4: a robots.txt should not be used longer than a day


class RobotsNeeded(NamedTuple):
    """The robots.txt of an address of a site must be fetched before its pages; see `HostAnswers`."""

    site_id: int
    address: str  # scheme://host[:port]


class RobotsCache:
    """The rules of robots.txt by address: of at most MAX_FILES with at most MAX_LINES, but always of the latest."""

    def __init__(self) -> None:
        self._rules: OrderedDict[str, RobotsRules] = OrderedDict()
        self._lines = 0

    def get(self, address: str) -> RobotsRules | None:
        """Return the rules of *address*; None if they are not in memory."""
        rules = self._rules.get(address)
        if rules is not None:
            self._rules.move_to_end(address)
        return rules

    def keep(self, address: str, rules: RobotsRules) -> list[str]:
        """Add or replace the rules of *address*; return the addresses whose rules were dropped for them."""
        if (old := self._rules.pop(address, None)) is not None:
            self._lines -= old.size
        self._rules[address] = rules
        self._lines += rules.size
        dropped = []
        while len(self._rules) > MAX_FILES or (self._lines > MAX_LINES and len(self._rules) > 1):
            last, old = self._rules.popitem(last=False)
            self._lines -= old.size
            dropped.append(last)
        return dropped


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
        row = self._sites.row(site_id)
        self._known.difference_update(row.addresses)
        for address in row.addresses:
            self._ask_again_at.pop(address, None)
        self._asked.pop(site_id, None)

    def needed(self, lease: Lease) -> RobotsNeeded | None:
        """Return the robots.txt that is needed before the leased URL is requested; None if none is."""
        return self.needed_of(lease.site_id, self._address_of(lease))

    def needed_of(self, site_id: int, address: str) -> RobotsNeeded | None:
        """Return the robots.txt of an *address* of a site, if it is needed before a request there."""
        if self._session.clock() >= self._ask_again_at.get(address, math.inf):
            del self._ask_again_at[address]
            self._known.discard(address)
        if not self.are_obeyed or address in self._known:
            return None
        self._asked[site_id] = address
        return RobotsNeeded(site_id, address)

    def _address_of(self, lease: Lease) -> str:
        """Return the address of the site from which the leased URL is requested."""
        site = self._sites.row(lease.site_id).site
        if not self._addresses:
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
        return self._asked.get(site_id, self._sites.row(site_id).site)

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
        return rules.reason_against(url) if rules is not None else None

    def allows(self, lease: Lease) -> bool:
        """Return whether robots.txt allows the leased URL."""
        return self.reason_against(self._address_of(lease), lease.url) is None

    def verdict(self, lease: Lease) -> str | Callable[[], Callable[[], None]] | None:
        """Return why robots.txt forbids the leased URL, or None.

        If the rules are in the store only, a query of it is returned instead. Any thread may call it before *lease*
        ends; it returns a function that takes up what was found, after which this is to be asked again.
        """
        address = self._address_of(lease)
        if self.are_obeyed and self._lacks_rules(address):
            return partial(self._read_rules, address)
        return self.reason_against(address, lease.url)

    def knows(self, address: str) -> bool:
        """Return whether the robots.txt of *address* is known to be readable, or not."""
        return address in self._known

    def _keep(self, address: str, rules: RobotsRules) -> None:
        self._known.add(address)
        for dropped in self._rules.keep(address, rules):
            if dropped not in self._sites.ids:
                self._known.discard(dropped)  # it is not stored, so it is requested again

    def _rules_of(self, address: str) -> RobotsRules | None:
        if self._lacks_rules(address):
            self._read_rules(address)()
        return self._rules.get(address)

    def _lacks_rules(self, address: str) -> bool:
        return address in self._known and self._rules.get(address) is None

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
