"""An event loop in a thread of its own, for a server that a test talks to."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

T = TypeVar("T")

END_S = 10


class LoopThread:
    """An event loop that runs from `start` to `end`."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def run(self, action: Coroutine[None, None, T]) -> T:
        """Return the result of *action*, which takes `END_S` seconds at most."""
        return asyncio.run_coroutine_threadsafe(action, self.loop).result(END_S)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Do nothing in the loop during the block, in which `run`, another `held` and `end` therefore fail."""
        is_held, is_over = threading.Event(), threading.Event()

        def hold() -> None:
            is_held.set()
            is_over.wait()

        self.loop.call_soon_threadsafe(hold)
        try:
            if not is_held.wait(END_S):
                raise TimeoutError(f"the loop was not free within {END_S} s")
            yield
        finally:
            is_over.set()

    def end(self, last: Coroutine[None, None, None]) -> None:
        """Run the *last* action, and end the loop even if that fails."""
        try:
            self.run(last)
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(END_S)
            self.loop.close()
