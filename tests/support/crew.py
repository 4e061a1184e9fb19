"""Several workers of one crawl, which are disturbed while they work: killed, frozen, cut off."""

import signal

from tests.support.killing import act_at_request
from tests.support.processes import until


class Crew:
    """*number* workers in the folder of *crawl*; *web* tells when requests arrive, and can hold all responses back.

    While workers start, the web is held: a crawl that the others end meanwhile can't be joined any more.
    """

    def __init__(self, crawl, web, number):
        self._crawl = crawl
        self._web = web
        self.workers = []
        self.killed = []
        for _ in range(number):
            self.add()

    def add(self, **settings):
        """Start another worker, with further *settings*, and wait until it has joined."""
        self.workers.append(self._joined(**settings))
        return self.workers[-1]

    def _joined(self, **settings):
        with self._web.held():
            run = self._crawl.start(**settings)
            joined = f"SELECT id FROM worker WHERE process = {run.pid}"
            has_joined = run.until(lambda: bool(self._crawl.query(joined)), "a worker that has joined")
        assert has_joined, f"the worker ended before it joined:\n{run.log}"
        return run

    def active(self):
        """Return the numbers of the active workers."""
        return [number for (number,) in self._crawl.query("SELECT id FROM worker WHERE state = 'active' ORDER BY id")]

    def until_active(self, number):
        """Wait until so many workers are active, or the crawl has ended."""
        until(lambda: len(self.active()) >= number or self.is_over, f"{number} active workers")

    @property
    def is_over(self):
        return self._crawl.states == ["finished"]

    def after_requests(self, number, act):
        """Call *act* when the web has received *number* further requests; return whether it has."""
        is_reached = False

        def reached():
            nonlocal is_reached
            act()
            is_reached = True

        act_at_request(self._web, number, reached)
        until(lambda: is_reached or not any(run.is_running for run in self.workers), f"{number} requests")
        self._web.on_request = None
        return is_reached

    def kill_one(self, rng, reach):
        """Kill a worker during one of the next *reach* requests, and start another one; False: the crawl has ended."""
        place = rng.randrange(len(self.workers))
        run = self.workers[place]
        if not self.after_requests(rng.randint(1, reach), run.kill):
            return False
        run.wait()
        self.killed.append(run)
        self.workers[place] = self._joined()
        return True

    def freeze_one(self, rng):
        """Stop a worker until it is declared lost, and wake it."""
        run = rng.choice(self.workers)
        run.signal(signal.SIGSTOP)
        try:
            self.until_lost(run)
        finally:
            run.signal(signal.SIGCONT)

    def until_lost(self, run):
        """Wait until a worker is declared lost, or the crawl has ended."""
        lost = f"SELECT id FROM worker WHERE process = {run.pid} AND state = 'lost'"
        until(lambda: bool(self._crawl.query(lost)) or self.is_over, "the loss of a worker")

    def wait(self):
        """Wait for the end of all workers that were not killed."""
        return [run.wait() for run in self.workers]
