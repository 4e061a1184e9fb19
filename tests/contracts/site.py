"""One open site of a frontier, with short names for frequent actions of the contract's tests."""

from crawlers.crawl.leasing import fail_loop
from crawlers.frontier.values import NO_FACTS, Candidate, Decision, Reward
from crawlers.items import Page, State
from crawlers.store.sites.site_opening import SiteRow
from crawlers.urls.resolution import resolve

NOW = 1000.0
VARIANTS = ["/a/", "/a", "/a/?x=", "//a/", "/a/?y="]  # of one page, best first but for the last three


def target_on(site_id, path):
    return resolve(f"http://host{site_id}.test/", f"http://host{site_id}.test{path}")


def acknowledge(frontier, lease, state=State.DONE, now=NOW, *, reward=0.0, known=NO_FACTS, **page):
    """End *lease*; *known* is what the mission knows of the links, *page* are further fields of the page."""
    result = fail_loop(lease, Page(lease.id, lease.url, lease.level, state, **page))
    return frontier.acknowledge(lease, Decision(result, links=known, reward=Reward(reward)), now)


class Site:
    """A new site of *engine*, or the known one of that *id*, open on *frontier* (None: one of its own)."""

    def __init__(self, engine, frontier=None, *, id=None, **limits):
        self.engine = engine
        self.id = engine.new_site() if id is None else id
        self.root = f"http://host{self.id}.test"
        self.frontier = engine.frontier() if frontier is None else frontier
        limits = {"parallel": 1, "delay_s": 0.0, "max_level": None} | limits
        self.frontier.open_site(SiteRow(self.id, self.root, **limits), NOW)

    def target(self, path):
        return target_on(self.id, path)

    def add(self, *paths, level=0, hops=0):
        return self.frontier.add((Candidate(self.id, self.target(p), level, hops) for p in paths), NOW)

    def lease(self, now=NOW, n=100):
        return [lease for lease in self.frontier.lease(now, n) if lease.site_id == self.id]

    def one(self, now=NOW):
        leases = self.frontier.lease(now, 1)
        assert len(leases) == 1
        return leases[0]

    def end(self, lease, state=State.DONE, *links, moved_to="", now=NOW, **more):
        target = self.target(moved_to) if moved_to else None
        found = [(self.target(link), 1) for link in links]
        return acknowledge(self.frontier, lease, state, now, links=found, moved_to=target, **more)[1]

    def paths(self, leases):
        return [lease.url.removeprefix(self.root) for lease in leases]

    def drain(self):
        """Respond to all waiting URLs with an empty page; return the paths in order of their leases."""
        paths = []
        while leases := self.lease():
            for lease in leases:
                paths += self.paths([lease])
                self.end(lease)
        return paths

    def rows(self):
        return {row["url"].removeprefix(self.root): row for row in self.engine.rows(self.id)}
