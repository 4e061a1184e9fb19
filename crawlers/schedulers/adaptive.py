"""The scheduler that all spiders share: hands out what the frontier leases, takes back what came of it.

Glue only: the frontier decides which site, which page, and when. A `SiteSpider` names its sites (`crawl_spec`) and
yields one `Page` a response, which the store pipeline gives to `finish`. The requests of a foreign spider are kept as
text in the frontier (see `foreign`).
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy import __version__ as scrapy_version
from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider, DontCloseSpider
from scrapy.utils.defer import deferred_from_coro
from twisted.python.failure import Failure

from crawlers.algorithms.bandits.reward_kinds import signature_with
from crawlers.algorithms.retries import REST_STATUSES, RetryPolicy, retry_delay_s
from crawlers.algorithms.urls.resolution import resolve, site_of
from crawlers.crawl.clock import ForwardClock
from crawlers.crawl.policy import CrawlPolicy
from crawlers.crawl.session import CrawlSession, log_paths
from crawlers.crawl.site_policies import SitePolicies
from crawlers.crawl.spec import CrawlSpec
from crawlers.crawl.stats import CrawlStats
from crawlers.crawl.url_filter import UrlFilter
from crawlers.errors import CrawlersError, FrontierError, StoreError
from crawlers.frontier.protocols import Candidate, Lease
from crawlers.inputs.url_settings import normalization
from crawlers.items import Page, State
from crawlers.schedulers.errbacks import ErrorHandlers
from crawlers.schedulers.foreign.queue import ForeignRequests
from crawlers.schedulers.page_requests import PageRequests
from crawlers.schedulers.robots_fetch import RobotsFetch
from crawlers.schedulers.wakeup import Wakeup
from crawlers.signals import crawl_stored
from crawlers.spiders.base import SiteSpider
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.files.csv_logs import CsvLogs
from crawlers.storage.schema.tables import SiteRobots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.spiders import Spider

    from crawlers.crawl.robots import RobotsRules
    from crawlers.items import Target

logger = logging.getLogger(__name__)

MOST_REJECTED = 500  # URLs that one call may reject before the engine gets its turn again


class AdaptiveScheduler(BaseScheduler):
    """Site rule x page order, as Scrapy's `SCHEDULER`."""

    def __init__(self, crawler: Crawler, retries: RetryPolicy) -> None:
        self.crawler = crawler
        self.failure: BaseException | None = None  # why the store gave up, for whoever reports it
        self.session: CrawlSession | None = None
        self._is_settling = self._has_settled = False  # the levels, when nothing waits
        self._lacks_output = False  # a file that belongs to a finished crawl could not be written
        self._settings = crawler.settings
        self._retries = retries
        self._ends_early = crawler.settings.getbool("NEWS_ONCE")
        self._most_leases = crawler.settings.getint("CONCURRENT_REQUESTS")
        self._clock = ForwardClock()
        self._errors = ErrorHandlers(self.finish)
        self._wakeup = Wakeup(crawler)
        self._options = normalization(crawler.settings)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        times = (settings.getint("RETRY_TIMES"), settings.getint("RETRY_REST_TIMES"))
        scheduler = cls(crawler, RetryPolicy(*times, settings.getfloat("RETRY_BACKOFF_SECONDS")))
        crawler.signals.connect(scheduler._spider_opened, signals.spider_opened)
        crawler.signals.connect(scheduler._spider_idle, signals.spider_idle)
        return scheduler

    def open(self, spider: Spider) -> None:
        # What is raised here makes Scrapy close parts that were never opened, with a traceback for each.
        try:
            self._open(spider)
        except CrawlersError as error:
            self.failure = error

    def _spider_opened(self) -> None:
        if self.failure is not None:
            raise CloseSpider("could not begin")

    def _spider_idle(self) -> None:
        if self.session is None or self.failure is not None:
            return
        if self.frontier.is_waiting and self.frontier.is_spent:
            raise CloseSpider("page_budget")
        if self._has_settled or self.frontier.is_waiting or not self.session.leaves_levels_too_deep:
            return
        if not self._is_settling:
            self._is_settling = True
            deferred_from_coro(self._settle_levels(self.session))
        raise DontCloseSpider

    async def _settle_levels(self, session: CrawlSession) -> None:
        try:
            await session.settle_levels(self._clock)
        except StoreError as error:
            if session.writer.is_closed:
                return  # the spider was closed in the meantime
            self._fail(error)
        self._is_settling = False
        self._has_settled = not self.frontier.is_waiting
        self._wakeup.at(now := self._clock(), now)

    def _open(self, spider: Spider) -> None:
        settings = self._settings
        now = self._began_at = self._clock()
        mission = _spec_of(spider)
        self._is_mission = isinstance(spider, SiteSpider)
        self._policy = CrawlPolicy()  # that of the mission needs an open crawl
        self._url_filter = UrlFilter(
            settings.getlist("IGNORED_EXTENSIONS") if self._is_mission else (),
            traps=self._is_mission and settings.getbool("TRAPS_ENABLED"),
        )
        logs = log_paths(settings)
        self.session = CrawlSession(settings, mission, self._reason_against, now, {"scrapy": scrapy_version})
        self.frontier = self.session.frontier
        self._crawl_stats = CrawlStats(
            self.crawler.stats, CsvLogs(*logs.values()), warns_of_home_pages=self._is_mission
        )
        agent = settings.get("ROBOTSTXT_USER_AGENT") or settings.get("USER_AGENT")
        self._sites = SitePolicies(self.session, settings, agent, self._is_mission, self._clock)
        self._robots = RobotsFetch(
            agent,
            self._retries,
            self._clock,
            self._robots_known,
            most=max(1, self._most_leases // 2),
            timeout_s=settings.getfloat("DOWNLOAD_TIMEOUT"),
        )
        self._start_place = mission.start_place
        self._pages = PageRequests(self._retries, self._errors.failed)
        self._foreign = ForeignRequests(spider, self._options, self.finish, self._is_open, self._sites.id_of)
        self.answers = self._foreign.answers
        self._errors.watch(self.crawler.signals, self.frontier, self.answers, self._robots)
        if not self._is_mission:
            self._foreign.watch(self.crawler.signals)
        for row in self.session.row.sites:
            self._sites.open(row, now)
        self.session.warn_of_left_out()
        self.session.recall_pulls()
        if isinstance(spider, SiteSpider):
            self._policy = spider.crawl_policy(self.session, self)
            self._add_urls((*(site.start_url or f"{site.site}/" for site in mission.sites), *mission.roots), now)
        logger.info("Crawl %s %s", self.session.name, self.session.beginning())

    def _reason_against(self, target: Target) -> str | None:
        """Why a URL that was never seen before is not to be fetched, or None."""
        return self._url_filter.reason_against(target) or self._policy.reason_against(target)

    def _add_urls(self, urls: Iterable[str], now: float) -> None:
        found = [(self._sites.id_of(site_of(url), now), resolve(url, "", self._options)) for url in urls]
        self.frontier.add([Candidate(*one, place=self._start_place) for one in found], now)

    def close(self, reason: str) -> None:
        self._wakeup.cancel()
        if self.session is None:
            return
        try:
            self._crawl_stats.close()
            self.session.commit()
            # Only when its graphs are written a crawl is finished: a kill before that lets it go on here.
            is_told = self._tell_stored()
            is_complete = is_told and not self._lacks_output and not self.frontier.is_waiting
            finished = reason == "finished" and is_complete
            is_finished = self.session.end(finished=finished, reason=reason, now=self._clock())
            logger.info("Crawl %s (%s): %s", self.session.name, reason, self.session.outcome(is_finished=is_finished))
        except StoreError as error:
            self._fail(error)
        finally:
            self.session.close_all()

    def write_output(self, write: Callable[[], None]) -> None:
        """Call *write* once everything learnt is committed; for pipelines when they close.

        What it raises is reported and keeps the crawl from being finished: the same command continues with it.
        """
        if self.session is None:
            return
        try:
            self.session.commit()
            write()
        except Exception as error:
            if not isinstance(error, CrawlersError):
                logger.exception("Internal error")
            self._lacks_output = True
            self._fail(error)

    def _tell_stored(self) -> bool:
        """Whether all who work on the complete store (graphs) succeeded."""
        outcomes = self.crawler.signals.send_catch_log(crawl_stored, dont_log=CrawlersError)
        errors = [outcome.value for _, outcome in outcomes if isinstance(outcome, Failure) and outcome.value]
        for error in errors:
            self._fail(error)
        return not errors

    def _fail(self, error: BaseException) -> None:
        if self.failure is None:
            self.failure = error
            logger.error("%s", error)

    # What the engine asks ---------------------------------------------------------------------------

    def has_pending_requests(self) -> bool:
        if self.failure is not None or (self._ends_early and self.frontier.only_revisits(self._began_at)):
            return False
        return self.frontier.has_pending

    def next_request(self) -> Request | None:
        # Whatever is raised here would take a popped request with it, and only asyncio would say so.
        try:
            return self._next_request()
        except StoreError as error:
            self.abort(error)
        except Exception as error:
            self._abort_by_mistake("nothing can be asked for", error)
        return None

    def _next_request(self) -> Request | None:
        if not self._policy.is_ready:
            return None
        now = self._clock()
        self._foreign.drop_refused()
        for _ in range(MOST_REJECTED):
            if (robots := self._robots.take(now)) is not None:
                return robots
            if self._is_mission and self.frontier.leases + self._robots.in_flight >= self._most_leases:
                # Scrapy asks as soon as a download ends; a rule chooses when it knows what that one brought.
                return None
            leases = self.frontier.lease(now, 1)
            if not leases:
                for due_s in (self.frontier.next_due(now), self._robots.next_due(now)):
                    if due_s is not None:
                        self._wakeup.at(now + due_s, now)
                return None
            lease = leases[0]
            if self._sites.needs_robots(lease.site_id):
                self.frontier.release(lease, now)
                self.frontier.pause(lease.site_id)
                self._robots.ask(lease.site_id, self._sites.name_of(lease.site_id))
                now = self._clock()  # so that it is taken before another site has its turn
                continue
            reason = self._policy.reason_to_skip(lease) or self._sites.reason_against(lease)
            if reason is None and (request := self._request(lease)) is not None:
                return request
            if reason is not None:
                self.finish(Page(lease.id, lease.url, lease.level, State.REJECTED, reason=reason))
        self._wakeup.at(now, now)
        return None

    def _request(self, lease: Lease) -> Request | None:
        if lease.request is not None:
            return self._foreign.request(lease, lease.request)
        return self._pages.request(lease)

    def enqueue_request(self, request: Request) -> bool:
        now = self._clock()
        try:
            return self._foreign.add(request, now, self.frontier.add)
        except StoreError as error:
            self.abort(error)
            return False

    def _is_open(self, lease: Lease) -> bool:
        return self.frontier.leased(lease.id) is lease

    # What comes back --------------------------------------------------------------------------------

    def finish(self, page: Page) -> Page:
        """End the lease of *page* with its results; after a transient failure the URL waits again.

        Returns the page as it was stored.
        """
        lease = self.frontier.leased(page.id)
        if lease is None or self.failure is not None:
            return page  # after a failure the frontier may know URLs that the store does not: nothing may follow
        try:
            return self._finish(lease, page)
        except StoreError as error:
            self.abort(error)
        except Exception as error:
            self._abort_by_mistake(f"{page.url} can't be stored", error)
        return page

    def _finish(self, lease: Lease, page: Page) -> Page:
        assert self.session is not None
        self._has_settled = False
        now = self._clock()
        attempts = lease.attempts + 1
        rest_until = 0.0
        if page.status in REST_STATUSES:
            rest_until = self.frontier.gate(lease.site_id).refused(now, page.retry_after_s)
        # What becomes of an ordinary spider's request is for Scrapy's RetryMiddleware to say.
        if lease.request is None and (page.is_transient or (page.state is State.REFUSED and page.status)):
            delay_s = retry_delay_s(self._retries, page.status, attempts)
            if delay_s is not None:
                self.frontier.release(lease, max(now + delay_s, rest_until), page.reason, failed=True)
                self._crawl_stats.retried(page, now)
                return page
            if attempts > 1:
                page = replace(page, state=State.FAILED, reason=f"{page.reason}, {attempts} attempts")
        earned = self.session.rewards.of(lease.site_id, page)
        self._crawl_stats.rewarded(earned.reward)
        if page.state is State.DONE:
            if earned.keys:
                page = replace(page, content_signature=signature_with(page.content_signature, earned.keys))
            self.frontier.gate(lease.site_id).answered()
            self._sites.observe(lease, page)
        decision = self._policy.decide(lease, page, now)
        page = self._sites.open_cross_site(decision.page, now)
        if page is not decision.page:
            decision = replace(decision, page=page)
        new, page = self.frontier.acknowledge(lease, decision, now, earned)
        if self.frontier.is_drained(lease.site_id):
            self._sites.drained(lease.site_id)
        self._crawl_stats.ended(lease, page, new, now)
        return page

    def _robots_known(self, site_id: int, rules: RobotsRules, text: str | None) -> None:
        assert self.session is not None
        self._sites.robots_known(site_id, rules)
        try:
            self.session.writer.submit(ChangeSet(SiteRobots(site_id, rules.status, text, self._clock())))
        except StoreError as error:
            self.abort(error)
            return
        self.frontier.resume(site_id, self._clock())
        self._add_urls(self._policy.found_by_robots(text or ""), self._clock())

    def abort(self, error: CrawlersError, reason: str = "store_failed") -> None:
        """Report *error*, and end the crawl; everything stored is kept."""
        if self.failure is None:
            self._fail(error)
            deferred_from_coro(self.crawler.engine.close_spider_async(reason=reason))

    def _abort_by_mistake(self, what: str, error: Exception) -> None:
        logger.exception("A mistake of ours")  # better to stop, and ask for the page again, than to lose it
        self.abort(FrontierError(f"{what}: {type(error).__name__} {error}; please report it"))

    def resume(self) -> None:
        """Request pages, because the policy is now ready."""
        self._wakeup.at(now := self._clock(), now)


def _spec_of(spider: Spider) -> CrawlSpec:
    if isinstance(spider, SiteSpider):
        return spider.crawl_spec()
    return CrawlSpec(spider.name, page_budget=spider.settings.getint("PAGE_BUDGET"))
