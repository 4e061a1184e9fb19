"""Requests by way of a proxy may use its addresses at its port; no other request may.

Host names are resolved by the resolver of the reactor.

Requests are sent to the host of their URL or to their proxy, if that is allowed.
"""

import asyncio

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver
from zope.interface import implementer

from crawlers.downloader.address_filter import AddressFilter, addresses_of, target_of
from crawlers.downloader.download_errors import DownloadRefusedError
from crawlers.reasons import Reason
from crawlers.urls.addresses import AddressGuard


@pytest.fixture
def addresses():
    """The filter of a crawl of the web."""
    addresses = AddressFilter()
    addresses._guard = AddressGuard(["http://example.com/"])
    return addresses


@pytest.mark.parametrize("host", ["proxy.corp", "10.0.0.1"])
def test_proxy_is_for_requests_by_way_of_it_only(addresses, host):
    addresses.check(host, 3128, is_proxy=True)
    assert addresses.admitted(host, 3128, ["10.0.0.1"]) == {"10.0.0.1"}
    assert addresses.admitted(host, 5432, ["10.0.0.1"]) == set()
    with pytest.raises(DownloadRefusedError):
        addresses.check(host, 3128, is_proxy=False)
    addresses.check(host, 3128, is_proxy=True)  # and it stays open to these


def test_other_ports_of_the_host_of_a_proxy_are_judged_by_their_addresses(addresses):
    addresses.check("proxy.corp", 3128, is_proxy=True)
    addresses.check("proxy.corp", 80, is_proxy=False)
    assert addresses.admitted("proxy.corp", 80, ["10.0.0.1"]) == set()
    assert addresses.take_refused("proxy.corp") is not None


ADDRESSES = {
    "two.example": [IPv4Address("TCP", "192.0.2.1", 80), IPv6Address("TCP", "2001:db8::1", 80)],
    "none.example": [],
}


@implementer(IHostnameResolver)
class Resolver:
    """Knows ADDRESSES; with *is_late* it answers when the caller waits."""

    def __init__(self, *, is_late):
        self.is_late = is_late
        self.asked = []
        self.answer = lambda: None

    def resolveHostName(self, resolutionReceiver, hostName, portNumber=0, *_):
        self.asked.append((hostName, portNumber))

        def answer():
            resolutionReceiver.resolutionBegan(None)
            for address in ADDRESSES[hostName]:
                resolutionReceiver.addressResolved(address)
            resolutionReceiver.resolutionComplete()

        self.answer = answer
        if not self.is_late:
            answer()


@pytest.fixture(params=[False, True], ids=["at once", "late"])
def resolver(request):
    from twisted.internet import reactor

    installed, made = reactor.nameResolver, Resolver(is_late=request.param)
    reactor.installNameResolver(made)
    yield made
    reactor.installNameResolver(installed)


async def resolved(resolver, host):
    finding = asyncio.ensure_future(addresses_of(host, 8080))
    await asyncio.sleep(0)
    if resolver.is_late:
        assert not finding.done()
        resolver.answer()
    return await finding


def test_all_addresses_of_a_name_are_found_in_order(resolver):
    assert asyncio.run(resolved(resolver, "two.example")) == ["192.0.2.1", "2001:db8::1"]
    assert resolver.asked == [("two.example", 8080)]


def test_name_without_addresses_has_none(resolver):
    assert asyncio.run(resolved(resolver, "none.example")) == []


def test_answer_that_comes_after_the_download_timed_out_is_ignored(resolver):
    async def give_up():
        finding = asyncio.ensure_future(addresses_of("two.example", 80))
        await asyncio.sleep(0)
        finding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await finding
        resolver.answer()

    resolver.is_late = True
    asyncio.run(give_up())


class Addresses:
    """A filter of addresses that refuses the *refused* host."""

    def __init__(self, refused=""):
        self.refused = refused
        self.checked = []

    def check(self, host, port, *, is_proxy):
        self.checked.append((host, port, is_proxy))
        if host == self.refused:
            raise DownloadRefusedError(Reason.PROXY.of(host))


@pytest.mark.parametrize(
    ("url", "proxy", "host", "port"),
    [
        ("http://A.example/x", None, "a.example", 80),
        ("https://a.example/x", None, "a.example", 443),
        ("https://a.example:8443/x", None, "a.example", 8443),
        ("http://[2001:db8::1]:81/", None, "2001:db8::1", 81),
        ("http://a.example./", None, "a.example.", 80),
        ("https://a.example/", "http://proxy.example:3128", "proxy.example", 3128),
        ("https://a.example/", "proxy.example:3128", "proxy.example", 3128),
        ("https://a.example/", "proxy.example", "proxy.example", 80),
        ("http://a.example/", "https://proxy.example", "proxy.example", 443),
        ("http://a.example/", "socks5://proxy.example", "proxy.example", 80),
    ],
)
def test_target_is_the_host_of_the_url_or_the_proxy(url, proxy, host, port):
    addresses = Addresses()
    request = Request(url, meta={"proxy": proxy} if proxy else {})
    assert target_of(request, addresses) == (host, port)
    assert addresses.checked == [(host, port, proxy is not None)]
    assert target_of(request, None) == (host, port)


@pytest.mark.parametrize("proxy", [None, "http://b.example"])
def test_target_that_is_refused_is_an_error(proxy):
    request = Request("http://a.example/", meta={"proxy": proxy})
    with pytest.raises(DownloadRefusedError, match="is a proxy"):
        target_of(request, Addresses("a.example" if proxy is None else "b.example"))


LONG = ".".join(["a" * 63] * 4)


@pytest.mark.parametrize("host", ["a..example", ".example", f"{'a' * 64}.example", LONG, ""])
def test_name_that_no_dns_can_hold_is_not_resolved(host):
    addresses = Addresses()
    with pytest.raises(CannotResolveHostError, match="is not a host name") as error:
        target_of(Request(f"http://{host}/x"), addresses)
    assert addresses.checked == []
    assert len(str(error.value)) < 300
