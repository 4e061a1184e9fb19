"""Host names are resolved by the resolver of the reactor."""

import asyncio

import pytest
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver
from zope.interface import implementer

from crawlers.downloader.address_filter import addresses_of

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
