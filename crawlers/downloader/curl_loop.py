"""Runs transfers of libcurl in the loop of asyncio, without a future or a task for each."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Generic, TypeVar

import pycurl

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class CurlLoop(Generic[T]):
    """Calls *ended* once for each transfer that reached an end, with what `add` was given, a code (0: no error) and a
    message. At most *most* idle connections stay open.
    """

    def __init__(self, ended: Callable[[pycurl.Curl, T, int, str], None], most: int) -> None:
        self._ended = ended
        self._loop: asyncio.AbstractEventLoop | None = None  # None: there was no transfer yet
        self._transfers: dict[pycurl.Curl, T] = {}
        self._watched: dict[int, int] = {}  # for what, by descriptor
        self._timer: asyncio.TimerHandle | None = None
        self._due_at = math.inf  # when libcurl wants to be called; not before the timer
        self._is_reading = False  # whether the ended transfers are read in the next turn of the loop
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, most)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)

    def add(self, curl: pycurl.Curl, transfer: T) -> None:
        """Begin the transfer of *curl*."""
        self._loop = self._loop or asyncio.get_running_loop()
        self._transfers[curl] = transfer
        self._multi.add_handle(curl)

    def remove(self, curl: pycurl.Curl, transfer: T) -> None:
        """Give up a transfer that has not ended; its handle may be in use for another one by now."""
        if self._transfers.get(curl) is transfer:
            del self._transfers[curl]
            self._multi.remove_handle(curl)

    def close(self) -> None:
        """Give up all transfers, and close all connections."""
        for curl, transfer in [*self._transfers.items()]:
            self.remove(curl, transfer)
        self._due_at = math.inf
        self._start_timer()
        self._multi.close()

    def _watch(self, what: int, descriptor: int, _multi: object, _data: object) -> None:
        assert self._loop is not None
        wanted = what & pycurl.POLL_INOUT
        before = self._watched.pop(descriptor, 0)
        for bit, select, add, remove in (
            (pycurl.POLL_IN, pycurl.CSELECT_IN, self._loop.add_reader, self._loop.remove_reader),
            (pycurl.POLL_OUT, pycurl.CSELECT_OUT, self._loop.add_writer, self._loop.remove_writer),
        ):
            if wanted & bit and not before & bit:
                add(descriptor, self._drive, descriptor, select)
            elif before & bit and not wanted & bit:
                remove(descriptor)
        if wanted:
            self._watched[descriptor] = wanted

    def _set_timer(self, after_ms: int) -> None:
        assert self._loop is not None
        if after_ms == 0:  # not at once: libcurl may not be called from its callbacks
            self._loop.call_soon(self._drive, pycurl.SOCKET_TIMEOUT, 0)
            return
        self._due_at = self._loop.time() + after_ms / 1000 if after_ms > 0 else math.inf
        if self._timer is None or self._due_at < self._timer.when():  # else with each transfer there would be a new one
            self._start_timer()

    def _start_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._loop is not None and self._due_at < math.inf:
            self._timer = self._loop.call_at(self._due_at, self._ring, self._loop)

    def _ring(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop.time() >= self._due_at:
            self._due_at = math.inf
            self._drive(pycurl.SOCKET_TIMEOUT, 0)
        self._start_timer()

    def _drive(self, descriptor: int, mask: int) -> None:
        if self._multi.closed:
            return
        self._multi.socket_action(descriptor, mask)
        if not self._is_reading:
            assert self._loop is not None
            self._is_reading = True
            self._loop.call_soon(self._read_ended)

    def _read_ended(self) -> None:
        self._is_reading = False
        if self._multi.closed:
            return
        _, ended, failed = self._multi.info_read()
        for curl, code, message in [*((curl, 0, "") for curl in ended), *failed]:
            transfer = self._transfers.pop(curl)
            self._multi.remove_handle(curl)
            self._ended(curl, transfer, code, message)
