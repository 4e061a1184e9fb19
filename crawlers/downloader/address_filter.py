"""Keeps connections out of private networks: filters the addresses to which Twisted resolves host names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.datatypes import LocalCache
from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer

from crawlers.downloader.download_errors import DownloadRefusedError
from crawlers.extensions.crawl_owner import CRAWL_OPENED
from crawlers.items import State
from crawlers.reasons import Reason
from crawlers.urls.addresses import is_address, network_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from scrapy.crawler import Crawler
    from twisted.internet.interfaces import IAddress, IHostResolution

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.urls.addresses import AddressGuard

MAX_REFUSED = 1_000  # names whose refusal is remembered until their request fails, which happens at once


class AddressFilter:
    """Applies the `AddressGuard` of the crawl to every connection, wherever a request comes from.

    It works at the resolver, so a name can't have another address when it is connected (DNS rebinding). Requests by way
    of a proxy are resolved by the proxy, and are not filtered.
    """

    def __init__(self) -> None:
        self._guard: AddressGuard | None = None  # None: no crawl is open
        self._resolver: Any = None  # that of the reactor before
        self._refused: LocalCache[str, str] = LocalCache(MAX_REFUSED)  # reason by host

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        addresses = cls()
        crawler.signals.connect(addresses._open, CRAWL_OPENED)
        crawler.signals.connect(addresses._close, signals.spider_closed)
        return addresses

    def _open(self, crawl: Crawl) -> None:
        from twisted.internet import reactor

        self._guard = crawl.addresses
        self._resolver = reactor.nameResolver
        reactor.installNameResolver(_FilteredResolver(self._resolver, self))

    def _close(self) -> None:
        from twisted.internet import reactor

        if self._resolver is not None:
            reactor.installNameResolver(self._resolver)

    def check(self, host: str, port: int, *, is_proxy: bool) -> None:
        """Raise `DownloadRefusedError` if *host* is an address that is refused; names are judged once resolved.

        *is_proxy* says that the request is sent by way of the proxy *host* at *port*. The web can't lead there.
        """
        if self._guard is None:
            return
        if is_proxy:
            self._guard.add_proxy(host, port)
        elif not is_address(host) and self._guard.is_proxy(host, port):
            raise DownloadRefusedError(Reason.PROXY.of(f"{host}:{port}"), State.REJECTED)
        elif is_address(host) and not self._guard.admitted(host, [host]):
            raise DownloadRefusedError(_reason(host, [host]), State.REJECTED)

    def admitted(self, host: str, port: int, addresses: Sequence[str]) -> set[str]:
        """Return those of the *addresses* of *host* that are allowed at *port*; if there are none, remember why."""
        if self._guard is None:
            return set(addresses)
        allowed = set(self._guard.admitted(host, addresses, port))
        if addresses and not allowed:
            self._refused[host] = _reason(host, addresses)
        return allowed

    def take_refused(self, host: str) -> DownloadRefusedError | None:
        """Return the error for *host* if all its addresses were refused, once; None if they were not."""
        reason = self._refused.pop(host, None)
        return None if reason is None else DownloadRefusedError(reason, State.REJECTED)


def _reason(host: str, addresses: Sequence[str]) -> str:
    """Return the reason against the first of the *addresses*; the others are refused as well."""
    address = min(addresses)
    found = (address, network_of(address))
    return Reason.PRIVATE_ADDRESS.of(*found) if address == host else Reason.PRIVATE_HOST.of(host, *found)


# mypy takes the methods of Twisted's interfaces, which have no `self`, for those of classes: hence Any.


@implementer(IHostnameResolver)
class _FilteredResolver:
    def __init__(self, resolver: Any, addresses: AddressFilter) -> None:
        self._resolver = resolver
        self._filter = addresses

    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[IAddress]] | None = None,
        transportSemantics: str = "TCP",
    ) -> IHostResolution:
        receiver = _FilteredReceiver(resolutionReceiver, hostName, portNumber, self._filter)
        resolution: IHostResolution = self._resolver.resolveHostName(
            receiver, hostName, portNumber, addressTypes, transportSemantics
        )
        return resolution


@implementer(IResolutionReceiver)
class _FilteredReceiver:
    """Collects the addresses of a name, and passes on those that are allowed when it has all of them."""

    def __init__(self, receiver: Any, host: str, port: int, addresses: AddressFilter) -> None:
        self._receiver = receiver
        self._host = host if host.isascii() else host.encode("idna").decode("ascii")  # as in URLs
        self._port = port
        self._filter = addresses
        self._found: list[IAddress] = []

    def resolutionBegan(self, resolutionInProgress: IHostResolution) -> None:
        self._receiver.resolutionBegan(resolutionInProgress)

    def addressResolved(self, address: IAddress) -> None:
        self._found.append(address)

    def resolutionComplete(self) -> None:
        allowed = self._filter.admitted(self._host, self._port, [address.host for address in self._found])
        for address in self._found:
            if address.host in allowed:
                self._receiver.addressResolved(address)
        self._receiver.resolutionComplete()
