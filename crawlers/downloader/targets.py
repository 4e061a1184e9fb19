"""Where requests are sent, and the limits of responses that hold for both HTTP clients."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from scrapy.exceptions import CannotResolveHostError

from crawlers.urls.addresses import is_address

if TYPE_CHECKING:
    from scrapy import Request

    from crawlers.downloader.address_filter import AddressFilter

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
