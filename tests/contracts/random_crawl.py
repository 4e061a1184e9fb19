"""Random crawls: in each step pages are leased, or one of those in flight ends, or time goes on; all choices are drawn.

A kind of crawl says in `open` on which frontier it goes on after a kill, and in `end` how its pages end.
"""

from collections import Counter

from crawlers.items import State
from crawlers.store.schema.tables import SiteRelease
from tests.contracts.site import NOW, acknowledge
from tests.contracts.webs import MAX_ATTEMPTS, answer, page_of, target

MAX_STEPS = 20_000  # far more than any of these crawls needs: one that takes longer does not end


class RandomCrawl:
    """A crawl of *sites* new sites whose steps *rng* decides."""

    batches = (1, 1, 3)  # numbers of pages that are asked for at once
    end_p = 0.5  # the probability that a page ends although others were leased

    def __init__(self, engine, rng, sites, now=NOW):
        self.engine = engine
        self.rng = rng
        self.now = now
        self.sites = [engine.new_site() for _ in range(sites)]
        self.in_flight = []

    def run(self, steps=None):
        """Take so many *steps*, or all until nothing is left to do."""
        for _ in range(steps or MAX_STEPS):
            if not self.step():
                return self
        assert steps, "the crawl does not end"
        return self

    def step(self):
        """Return whether anything was left to do."""
        leases = self.frontier.lease(self.now, self.rng.choice(self.batches))
        self.take(leases)
        if self.in_flight and (not leases or self.rng.random() < self.end_p):
            lease = self.in_flight.pop(self.rng.randrange(len(self.in_flight)))
            self.end(lease)
            assert self.frontier.leases.get(lease.id) is None
        elif not leases:
            return self.wait()
        return True

    def take(self, leases):
        self.in_flight += leases

    def wait(self):
        """Go to when the next page is due; return whether there is one."""
        due = self.frontier.next_due(self.now)
        assert self.frontier.has_pending == (due is not None)
        if due is None:
            assert not self.frontier.schedule.is_waiting, "something waits that is never leased"
            return False
        assert due > 0.0, "something is due, but nothing is leased"
        self.now += due
        return True

    def kill(self):
        """Lose all changes that are not committed, but perhaps for the first of them, and go on from the store."""
        held = self.engine.held
        held.commit(self.rng.randint(0, held.pending))
        held.lose()
        self.in_flight.clear()
        self.open()

    def close(self, site):
        """Close a site of which nothing is in flight, and return its row."""
        changes = self.frontier.close_site(site)
        self.engine.held.submit(changes)
        self.engine.held.flush()
        return changes[SiteRelease][0]

    def acknowledge(self, lease, state=State.DONE, **more):
        acknowledge(self.frontier, lease, state, self.now, **more)

    def retry(self, lease, after_s=0.0):
        self.frontier.release(lease, self.now + after_s, "no answer", failed=True)


class WebCrawl(RandomCrawl):
    """A crawl of sites of which each is one of *webs*; no page is leased again that has ended."""

    rests_s = (0.0, 2.0)  # of a page that fails

    def __init__(self, engine, rng, webs, now):
        super().__init__(engine, rng, len(webs), now)
        self.webs = dict(zip(self.sites, webs, strict=True))
        self.asked = set()  # pages that are leased or ended, as far as this process knows

    def take(self, leases):
        for lease in leases:
            assert lease.id not in self.asked, f"{lease.url} is leased twice"
            self.asked.add(lease.id)
        super().take(leases)

    def end(self, lease):
        web, page = self.webs[lease.site_id], page_of(lease.key)
        if lease.attempts < min(web[page].failures, MAX_ATTEMPTS):
            self.asked.discard(lease.id)
            self.retry(lease, self.rng.choice(self.rests_s))
        elif web[page].failures > MAX_ATTEMPTS:
            self.acknowledge(lease, State.FAILED)
        else:
            state, links, moved = answer(web, page, lease.url)
            found = [(target(way), count) for way, count in Counter(links).items()]
            to = moved and target(moved)._replace(site=f"http://host{lease.site_id}.test")  # the name of its own site
            self.acknowledge(lease, state, links=found, moved_to=to)
            if moved and moved.page == page:
                self.asked.discard(lease.id)  # it may be requested again, in its other variant
