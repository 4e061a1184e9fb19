"""Where requests are sent: host names are resolved by the reactor, and no connection leads into a private network.

Both HTTP clients use it, and the limits of responses.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.exceptions import CannotResolveHostError
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

    from scrapy import Request
    from scrapy.crawler import Crawler
    from twisted.internet.interfaces import IAddress, IHostResolution

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.urls.addresses import AddressGuard


async def addresses_of(host: str, port: int) -> list[str]:
    """Return the IP addresses of *host* that may be connected to at *port*; none if there are none."""
    from twisted.internet import reactor

    receiver = _Receiver()
    reactor.nameResolver.resolveHostName(receiver, host, port)
    return await receiver.addresses


@implementer(IResolutionReceiver)
class _Receiver:
    def __init__(self) -> None:
        self.addresses: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        self._found: list[str] = []

    def resolutionBegan(self, resolutionInProgress: IHostResolution) -> None:
        """Do nothing: resolutions can't be cancelled."""

    def addressResolved(self, address: IAddress) -> None:
        self._found.append(address.host)

    def resolutionComplete(self) -> None:
        if not self.addresses.done():  # it is when the download timed out
            self.addresses.set_result(self._found)


MAX_HEAD_BYTES = 256 * 1024  # of status lines and headers, informational responses (1xx) included; as in Chrome
MAX_LINE_BYTES = 64 * 1024  # of a header; Twisted's 16 kB are too few for the security policies of some sites

_PORTS = {"http": 80, "https": 443}
_MAX_NAME, _MAX_LABEL = 253, 63  # characters of a host name and its parts (RFC 1035 section 2.3.4)


class Target(NamedTuple):
    """The host to which a request is sent: that of its URL, or its proxy."""

    host: str  # a name or an IP address, in lower case and without brackets
    port: int


def target_of(request: Request, addresses: AddressFilter | None) -> Target:
    """Return where *request* will be sent, if *addresses* allow it.

    Raises `DownloadRefusedError` if they don't, and `CannotResolveHostError` for a name that no DNS can hold.
    """
    url, proxy = request.url, request.meta.get("proxy")
    if proxy:
        url = proxy if "://" in proxy else f"http://{proxy}"
    target = _target("/".join(url.split("/", 3)[:3]))
    if addresses is not None:
        addresses.check(*target, is_proxy=bool(proxy))
    return target


@lru_cache(1_000)  # sites that are crawled at a time
def _target(site: str) -> Target:
    parts = urlsplit(site)
    target = Target(parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 80))
    _check_name(target.host)
    return target


def _check_name(host: str) -> None:
    """Raise `CannotResolveHostError` for a name that no DNS can hold; resolvers raise other exceptions for some."""
    labels = host.removesuffix(".").split(".")
    if not is_address(host) and (len(host) > _MAX_NAME or any(not 1 <= len(label) <= _MAX_LABEL for label in labels)):
        raise CannotResolveHostError(f"{host[:_MAX_NAME]} is not a host name")


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
