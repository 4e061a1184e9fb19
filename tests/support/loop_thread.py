"""An event loop in a thread of its own, for a server that a test talks to."""

import asyncio
import threading
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

END_S = 10


class LoopThread:
    """An event loop that runs from `start` to `end`."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def start(self):
        self._thread.start()

    def run(self, action):
        """Return the result of *action*, which takes `END_S` seconds at most."""
        return asyncio.run_coroutine_threadsafe(action, self.loop).result(END_S)

    @contextmanager
    def held(self):
        """Do nothing in the loop during the block, in which `run`, another `held` and `end` therefore fail."""
        is_held, is_over = threading.Event(), threading.Event()

        def hold():
            is_held.set()
            is_over.wait()

        self.loop.call_soon_threadsafe(hold)
        try:
            if not is_held.wait(END_S):
                raise TimeoutError(f"the loop was not free within {END_S} s")
            yield
        finally:
            is_over.set()

    def end(self, last):
        """Run the *last* action, and end the loop even if that fails."""
        try:
            self.run(last)
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(END_S)
            self.loop.close()
