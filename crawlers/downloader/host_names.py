"""Resolves host names by the resolver of the reactor, with its cache, its time limit and the filter of addresses."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from twisted.internet.interfaces import IResolutionReceiver
from zope.interface import implementer

if TYPE_CHECKING:
    from twisted.internet.interfaces import IAddress, IHostResolution


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
