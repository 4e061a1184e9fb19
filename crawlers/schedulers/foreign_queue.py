"""Queues the requests of plain Scrapy spiders: they wait as text in the frontier, and are recreated when leased."""

from __future__ import annotations

import inspect
import json
import logging
import secrets
from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.misc import arg_to_iter
from scrapy.utils.request import request_from_dict
from twisted.python.failure import Failure

from crawlers.errors import BadUrl
from crawlers.frontier.values import Candidate, Lease
from crawlers.items import LEASE, Page, State
from crawlers.reasons import Reason
from crawlers.schedulers.failures import failed_page
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.keys import page_key
from crawlers.urls.resolution import resolve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from scrapy import Request
    from scrapy.signalmanager import SignalManager
    from scrapy.spiders import Spider

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.extensions.pending_callbacks import PendingCallbacks
    from crawlers.items import Target
    from crawlers.urls.normalization import Normalization


class RequestKeeper:
    """Writes requests as JSON, and recreates them.

    A request that can't be written (an object in its meta, a callback that is not a method of the spider) stays in
    memory, so it does not survive the process; the first one is logged.
    """

    def __init__(self, spider: Spider) -> None:
        self._spider = spider
        self._kept: dict[int, Request] = {}
        self._serial = 0
        self._process = secrets.token_hex(8)  # distinguishes the numbers of different processes

    def write(self, request: Request) -> str:
        try:
            fields = request.to_dict(spider=self._spider)
            fields["headers"] = {
                name.decode("latin-1"): [value.decode("latin-1") for value in values]
                for name, values in fields["headers"].items()
            }
            fields["body"] = fields["body"].decode("latin-1")
            text = json.dumps(fields)
            if json.loads(text) != fields:
                raise ValueError("a tuple, or a key that is not text, would be recreated as something else")
            return text
        except (TypeError, ValueError) as error:
            if not self._serial:
                logger.warning(
                    "%s can't be written as JSON (%s): it stays in memory and is lost with the process. Further "
                    "occurrences are not logged",
                    request,
                    error,
                )
            self._serial += 1
            self._kept[self._serial] = request
            return json.dumps({"kept": self._serial, "process": self._process})

    def read(self, text: str) -> Request:
        """Return the request; raises `LookupError` with the reason if it can't be recreated."""
        fields: dict[str, Any] = json.loads(text)
        if "kept" in fields:
            request = self._kept.pop(fields["kept"], None) if fields.get("process") == self._process else None
            if request is None:
                raise LookupError(Reason.REQUEST_LOST)
            return request
        fields["body"] = fields["body"].encode("latin-1")
        fields["headers"] = {  # as bytes, because Scrapy would encode text as UTF-8
            name.encode("latin-1"): [value.encode("latin-1") for value in values]
            for name, values in fields["headers"].items()
        }
        try:
            return request_from_dict(fields, spider=self._spider)
        except (AttributeError, ImportError, NameError, TypeError, ValueError) as error:
            raise LookupError(Reason.REQUEST_OUTDATED.of(error)) from error


def target_of_request(request: Request, options: Normalization, *, unique: str = "") -> Target:
    """Return the identity of *request*: its URL, method and body; with *unique* it differs from all others.

    Raises `BadUrl`.
    """
    target = resolve(request.url, "", options)
    if request.method == "GET" and not request.body and not unique:
        return target
    parts = (request.method, target.normalized, request.body.decode("latin-1"), unique)
    return target._replace(key=page_key("\n".join(parts)))


@dataclass(eq=False)
class WatchedErrback:
    """Wraps the errback of a request, or its absence; *page_of* returns the page of a failed download."""

    original: Callable[[Failure], Any] | None
    callbacks: PendingCallbacks
    page_of: Callable[[Failure], Page]

    def __call__(self, failure: Failure) -> Any:
        page = self.page_of(failure)
        if page.id in self.callbacks:  # it failed on its way into the spider, as CallbackMiddleware reported
            return failure if self.original is None else self.original(failure)
        self.callbacks.begin(failure, page)
        if self.original is None:
            self.callbacks.record_end(failure)
            return failure
        try:
            output = self.original(failure)
        except BaseException:
            self.callbacks.record_end(failure)
            raise
        if isinstance(output, Failure):
            self.callbacks.record_end(failure)
            return output
        watched = self._awaited if inspect.iscoroutine(output) else self._watched
        return watched(output, failure)

    async def _awaited(self, output: Coroutine[Any, Any, Any], failure: Failure) -> AsyncIterator[Any]:
        try:
            return self._watched(await output, failure)
        except BaseException:
            self.callbacks.record_end(failure)
            raise

    async def _watched(self, output: Any, failure: Failure) -> AsyncIterator[Any]:
        try:
            outputs = output if inspect.isasyncgen(output) else as_async_generator(arg_to_iter(output))
            async for one in outputs:
                self.callbacks.record_output(failure, one)
                yield one
        finally:
            self.callbacks.record_end(failure)


logger = logging.getLogger(__name__)


@dataclass(eq=False)
class ForeignRequests:
    """Stores the requests of *spider* in *crawl* as text.

    Scrapy's engine announces a request before it enqueues it, unless another component refuses it. So the end of a
    lease whose request was replaced by a downloader middleware is known at the next call at the latest.
    """

    spider: Spider
    options: Normalization
    crawl: Crawl
    callbacks: PendingCallbacks
    manager: InitVar[SignalManager]

    def __post_init__(self, manager: SignalManager) -> None:
        self._keeper = RequestKeeper(self.spider)
        self._announced: Request | None = None
        self._serial = 0
        manager.connect(self._announce, signals.request_scheduled)

    # Out --------------------------------------------------------------------------------------------

    def request(self, lease: Lease, text: str) -> Request | None:
        """Return the request of *lease* from its *text*; None if it can't be recreated, which ends the lease."""
        try:
            request = self._keeper.read(text)
        except LookupError as error:
            reason: str = error.args[0]
            self.crawl.recording.record(Page(lease.id, lease.url, lease.level, State.FAILED, reason=reason))
            return None
        request.meta[LEASE] = lease
        request.errback = WatchedErrback(
            request.errback, self.callbacks, lambda failure: failed_page(lease, failure.value)
        )
        return request

    # In ---------------------------------------------------------------------------------------------

    def add(self, request: Request, now: float) -> bool:
        """Queue *request*; return whether it is new. Raises `StoreError`."""
        self._announced = None
        try:
            lease = self._replaced(request)
            changes = ChangeSet()
            candidate = self._candidate(request, now, changes, is_replacement=lease is not None)
            new = self.crawl.frontier.add([candidate], now, changes) if candidate is not None else 0
            if lease is not None:
                # Only after the other one was queued: a kill in between must not lose both.
                reason = Reason.REPLACED.of(request.url)
                self.crawl.recording.record(Page(lease.id, lease.url, lease.level, State.MOVED, reason=reason))
        finally:
            self.callbacks.record_request(request)
        return new > 0

    def _candidate(self, request: Request, now: float, changes: ChangeSet, *, is_replacement: bool) -> Candidate | None:
        is_repeated = request.meta.pop(LEASE, None) is not None  # the spider copied a request that it had received
        if isinstance(request.errback, WatchedErrback):
            request.errback = request.errback.original
        unique = ""
        # A resumed crawl recognises a start request by its URL; a retry of it is a separate request.
        if request.dont_filter and (is_replacement or is_repeated or not request.meta.get("is_start_request")):
            self._serial += 1
            unique = f"{now}#{self._serial}"
        try:
            target = target_of_request(request, self.options, unique=unique)
        except BadUrl as error:
            logger.warning("%s is dropped: %s", request, error)
            return None
        if request.meta.get("is_start_request"):
            self.crawl.addresses.add_seed(target.url)
        # The level is the number of clicks; a priority of Scrapy counts as that many clicks less.
        level = max(0, int(request.meta.get("depth", 0)) - request.priority)
        site_id = self.crawl.sites.id_of(target.site, now, changes)
        return Candidate(site_id, target, level, 0, None, self._keeper.write(request))

    def _announce(self, request: Request) -> None:
        self.drop_refused()
        self._announced = request

    def drop_refused(self) -> None:
        """End the lease of an announced request that another component refused, such as OffsiteMiddleware."""
        request, self._announced = self._announced, None
        if request is None:
            return
        self.callbacks.record_request(request)
        if (lease := self._replaced(request)) is not None:
            reason = Reason.REPLACED_IN_VAIN.of(request.url)
            self.crawl.recording.record(Page(lease.id, lease.url, lease.level, State.REFUSED, reason=reason))

    def _replaced(self, request: Request) -> Lease | None:
        """Return the open lease of the request that *request* replaces, by a redirect or retry."""
        lease = request.meta.get(LEASE)
        if not isinstance(lease, Lease) or self.crawl.frontier.leases.get(lease.id) is not lease:
            return None
        return lease if lease.id not in self.callbacks else None  # the spider copied the meta of a response
