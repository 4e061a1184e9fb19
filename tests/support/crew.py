"""Several workers of one crawl, which are disturbed while they work: killed, frozen, cut off."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Protocol

from tests.support.killing import CountedWeb, act_at_request
from tests.support.processes import until

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.support.processes import Ended, Run
    from tests.support.running import Crawl


class HeldWeb(CountedWeb, Protocol):
    """A web that can keep all responses back."""

    def held(self) -> AbstractContextManager[None]: ...


class Crew:
    """*number* workers in the folder of *crawl*; *web* tells when requests arrive.

    While workers start, the web is held: a crawl that the others end meanwhile can't be joined any more.
    """

    def __init__(self, crawl: Crawl, web: HeldWeb, number: int) -> None:
        self._crawl = crawl
        self._web = web
        self.workers: list[Run] = []
        self.killed: list[Run] = []
        for _ in range(number):
            self.add()

    def add(self, **settings: object) -> Run:
        """Start another worker, with further *settings*, and wait until it has joined."""
        self.workers.append(self._joined(**settings))
        return self.workers[-1]

    def _joined(self, **settings: object) -> Run:
        with self._web.held():
            run = self._crawl.start(**settings)
            joined = f"SELECT id FROM worker WHERE process = {run.pid}"
            has_joined = run.until(lambda: bool(self._crawl.query(joined)), "a worker that has joined")
        assert has_joined, f"the worker ended before it joined:\n{run.log}"
        return run

    def active(self) -> list[int]:
        """Return the numbers of the active workers."""
        return [number for (number,) in self._crawl.query("SELECT id FROM worker WHERE state = 'active' ORDER BY id")]

    def until_active(self, number: int) -> None:
        """Wait until so many workers are active, or the crawl has ended."""
        until(lambda: len(self.active()) >= number or self.is_over, f"{number} active workers")

    @property
    def is_over(self) -> bool:
        return self._crawl.states == ["finished"]

    def after_requests(self, number: int, act: Callable[[], None]) -> bool:
        """Call *act* when the web has received *number* further requests; return whether it has."""
        is_reached = False

        def reached() -> None:
            nonlocal is_reached
            act()
            is_reached = True

        act_at_request(self._web, number, reached)
        until(lambda: is_reached or not any(run.is_running for run in self.workers), f"{number} requests")
        self._web.on_request = None
        return is_reached

    def kill_one(self, rng: random.Random, reach: int) -> bool:
        """Kill a worker during one of the next *reach* requests, and start another one; False: the crawl has ended."""
        place = rng.randrange(len(self.workers))
        run = self.workers[place]
        if not self.after_requests(rng.randint(1, reach), run.kill):
            return False
        run.wait()
        self.killed.append(run)
        self.workers[place] = self._joined()
        return True

    def freeze_one(self, rng: random.Random) -> None:
        """Stop a worker until it is declared lost, and wake it.

        It is not stopped within a transaction: then nobody could write to the file of SQLite until it wakes.
        """
        run = rng.choice(self.workers)
        run.signal(signal.SIGSTOP)
        while self._crawl.is_locked():
            run.signal(signal.SIGCONT)
            run.signal(signal.SIGSTOP)
        try:
            self.until_lost(run)
        finally:
            run.signal(signal.SIGCONT)

    def until_lost(self, run: Run) -> None:
        """Wait until a worker is declared lost, or the crawl has ended."""
        lost = f"SELECT id FROM worker WHERE process = {run.pid} AND state = 'lost'"
        until(lambda: bool(self._crawl.query(lost)) or self.is_over, "the loss of a worker")

    def wait(self) -> list[Ended]:
        """Wait for the end of all workers that were not killed."""
        return [run.wait() for run in self.workers]
