"""The specification of a crawl by its mission: sites, roots, scope, budget, and how its responses are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crawlers.crawl.run import Run
from crawlers.inputs.setting_readers import link_tags, normalization
from crawlers.options.of_crawls import BROKEN_LINKS
from crawlers.pages.response import ResponseReader
from crawlers.urls.addresses import SiteAddresses
from crawlers.urls.link_resolver import LinkResolver
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.items import Hint, SiteLimits
    from crawlers.store.sites.site_opening import SiteRow
    from crawlers.urls.scope import Scope


def response_reader(settings: SettingValues, addresses: SiteAddresses, scope: Scope | None) -> ResponseReader:
    """Return the reader of the responses of a crawl of sites at *addresses*, within *scope*; raises `ConfigError`."""
    return ResponseReader(
        LinkResolver(normalization(settings), addresses=addresses, across_sites=scope is not None),
        link_tags(settings),
        frozenset(settings.getlist("HTML_TYPES")),
        read_pages=set() if BROKEN_LINKS in settings.getlist("RESULT_TABLES") else None,
        scope=scope,
    )


def open_run(session: Any) -> Run:
    """Return the run of a mission that decides nothing."""
    return Run(session.spec.reader, session.reader.run)


@dataclass(frozen=True, slots=True)
class CrawlSpec:
    """Made by `crawl_of`; the specification of a foreign spider has no sites, and no reader."""

    name: str
    sites: Sequence[SiteLimits] = ()
    roots: Sequence[str] = ()  # further pages on level 0, besides the start URLs of the sites
    scope: Scope | None = None  # further sites that it may visit; None: links between sites are not followed
    leader_of: Callable[[str], str | None] = lambda site: None  # returns the name of the site that leads its source
    addresses: SiteAddresses = field(default_factory=SiteAddresses)  # filled by the crawl, as it opens its sites
    reader: ResponseReader | None = None
    open: Callable[[Any], Run] = open_run  # with the `CrawlSession` of the open store; raises `ConfigError`
    gives: Mapping[str, Any] = field(default_factory=dict)  # what orders may need, by the words for it
    start_hint: Hint | None = None  # of the start URLs and roots, under an order that takes hints
    has_rewards: bool = False  # of pages, from which the site rule learns
    recorded: Mapping[str, Any] = field(default_factory=dict)  # with the settings of the crawl
    named: Sequence[str] = ()  # further URLs that the user gave, and that are no sites or roots
    page_budget: int = 0
    revisits: bool = False  # whether an order may fetch pages again
    ends_early: bool = False  # when nothing waits but revisits that became due since it began
    reads_sitemaps: bool = False  # to compare them with the pages of its sites
    is_foreign: bool = False  # a plain Scrapy spider, which yields requests itself

    @property
    def root_sites(self) -> list[str]:
        """The sites of the roots, without those that are listed."""
        listed = {limits.site for limits in self.sites}
        return [site for site in dict.fromkeys(site_of(url) for url in self.roots) if site not in listed]

    @property
    def seeds(self) -> list[str]:
        """The URLs that the user gave: sites with their aliases, roots, and others."""
        addresses = (address for limits in self.sites for address in (limits.site, *limits.aliases))
        return [*addresses, *self.roots, *self.named]

    def keeping(self) -> Callable[[SiteRow], bool] | None:
        """Return a test for the unlisted sites of earlier runs that stay in the crawl; None if none do.

        These are the sites of the roots and of the scope. A site with a start URL was listed, and no longer is; it
        stays only if the scope is not limited to domains.
        """
        scope, roots = self.scope, {site_of(url) for url in self.roots}
        if scope is None or not scope.is_open:
            return None
        return lambda row: row.site in roots or scope.is_all or (row.start_url is None and scope.holds(row.site))


def crawl_of(
    name: str, sites: Sequence[SiteLimits], settings: SettingValues, scope: Scope | None = None, **more: Any
) -> CrawlSpec:
    """Return the specification of a crawl whose pages are read as *settings* say; *more* are further fields of it.

    Raises `ConfigError`.
    """
    budget, addresses = settings.getint("PAGE_BUDGET"), SiteAddresses()
    reader = response_reader(settings, addresses, scope)
    given = {"page_budget": budget, **more}
    return CrawlSpec(name, sites, scope=scope, addresses=addresses, reader=reader, **given)
