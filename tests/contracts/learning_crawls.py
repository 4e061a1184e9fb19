"""Random crawls that learn from links: with kills, and with everything that may happen to a page."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from crawlers.bandits.turns import RoundRobin
from crawlers.frontier.value_queue import ValueQueue
from crawlers.frontier.values import Candidate, LinkFacts
from crawlers.items import LinkPlace, State
from crawlers.ranking.link_values import LinkValues, features_of
from crawlers.ranking.page_orders import PageOrder
from crawlers.store.sites.site_opening import SiteRow
from crawlers.store.writing.pulls import pulls_of
from crawlers.urls.resolution import site_of
from tests.contracts.random_crawl import RandomCrawl
from tests.contracts.site import NOW, Site, target_on

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.bandits.site_rules import SiteRule


class Way(NamedTuple):
    """A kind of crawl that learns from links."""

    order: Callable[[], PageOrder]
    rule: Callable[[], SiteRule]
    rewards: tuple[float, ...]
    links_sites: bool  # pages link to pages of other sites, and the texts of their links have a relevance


HARVEST = Way(lambda: PageOrder(link_values=LinkValues()), RoundRobin, (0.0, 2.0, 600.0), links_sites=False)


def place(path):
    """A place of the links to a folder."""
    return LinkPlace(f"ul/li.{path.split('/')[1]}", "div/ul/li", f"to {path}")


class LearntSite(Site):
    """A site whose links to one folder stand at one place; *worth* is the relevance of a text that contains a word."""

    def __init__(self, engine, way=HARVEST, frontier=None, worth=(), **limits):
        super().__init__(engine, frontier or engine.frontier(way.order(), way.rule(), records_pulls=True), **limits)
        self.worth = dict(worth)

    def read(self, lease, *links, reward=0.0):
        found = {link: self.target(link) for link in links}
        worth = {
            target.key: max((value for word, value in self.worth.items() if word in link), default=0.0)
            for link, target in found.items()
        }
        places = {target.key: place(link) for link, target in found.items()}
        self.end(lease, State.DONE, *links, reward=reward, known=LinkFacts(places, worth))

    def begin(self, *links):
        self.add("/")
        self.read(self.one(), *links)

    def crawl(self, rewards):
        """Read all waiting pages one by one; return their paths in this order. *rewards* are by folder."""
        paths = []
        while leases := self.lease(n=1):
            paths += self.paths(leases)
            self.read(leases[0], reward=rewards[paths[-1].split("/")[1]])
        return paths

    @property
    def queue(self):
        queue = self.frontier.site(self.id).queues[0]
        assert isinstance(queue, ValueQueue)
        return queue


class Crawl(RandomCrawl):
    """A crawl of a random web of two sites, one request in flight; *seed* decides on the web, *kills* are accidents."""

    batches = (1,)
    end_p = 1.0

    def __init__(self, engine, seed, way, *, kills):
        super().__init__(engine, random.Random(seed), 2)
        self._way = way
        self._head_urls = random.Random(seed).choice([2, 32, 100_000])
        self._seed, self._kills = seed, kills
        self.read = []  # the pages, in order, without those whose results were lost
        self.open()

    def open(self):
        limits = {"records_pulls": True, "cache_urls": 10, "head_urls": self._head_urls}
        self.frontier = self.engine.frontier(self._way.order(), self._way.rule(), **limits)
        self.frontier.learn(pulls_on(self.engine, self.sites))
        for number in self.sites:
            self.frontier.open_site(SiteRow(number, f"http://host{number}.test", 1, None, 0.0), NOW)
        self.frontier.add([Candidate(number, target_on(number, "/p0")) for number in self.sites], NOW)

    def step(self):
        if self._kills and self.rng.random() < 0.1:
            self._kills -= 1
            self.kill()
            del self.read[len(pulls_on(self.engine, self.sites)) :]
        elif self.rng.random() < 0.2:
            self.engine.held.flush()
        return super().step()

    def take(self, leases):
        super().take(leases)
        self.read += map(self._place_of, leases)

    def _place_of(self, lease):
        return self.sites.index(lease.site_id), lease.url.partition(".test")[2]

    def end(self, lease):
        site, path = self._place_of(lease)
        web = random.Random(f"{self._seed} {site} {path}")
        fate = web.random()
        if fate < 0.1 and not lease.attempts:
            self.retry(lease)
            return
        others = list(dict.fromkeys(f"/p{web.randrange(120)}" for _ in range(web.choice([0, 3, 12]))))
        targets = {other: target_on(lease.site_id, other) for other in others}
        if self._way.links_sites:
            targets = {other: target_on(self.sites[web.randrange(2)], other) for other in others}
        if fate < 0.2 and others and lease.hops < 10 and targets[others[0]].url != lease.url:
            self.acknowledge(lease, State.MOVED, moved_to=targets[others[0]])
            return
        more = linked(lease, targets.values())
        places = {one.key: LinkPlace(f"ul/{int(to[2:]) % 3}", "", f"to {to}") for to, one in targets.items()}
        values = None
        if self._way.links_sites:
            values = {one.key: web.choice([0.0, 0.0, 0.2, 0.7]) for one in targets.values()}
        more["known"] = LinkFacts(places, values)
        self.acknowledge(lease, reward=len(path) % 3 * web.choice(self._way.rewards) / 2, **more)


def pulls_on(engine, site_ids):
    """Return the pulls of these sites; the store has those of other crawls, too."""
    engine.held.flush()
    return [one for one in pulls_of(engine.database, engine.crawl_id) if one.site_id in site_ids]


def linked(lease, targets):
    """Return the links of a page to *targets*, as `Page` has them."""
    own = site_of(lease.url)
    return {
        "links": [(target, 1) for target in targets if target.site == own],
        "cross_site_links": [(target, 1) for target in targets if target.site != own],
    }


class Accidents(RandomCrawl):
    """A crawl of two sites, several requests in flight, in which everything happens that may happen to a page."""

    batches = (1,)

    def __init__(self, engine, seed, way, head_urls):
        super().__init__(engine, random.Random(seed), 2)
        self._way = way
        order = way.order()
        assert order.link_values is not None
        self.values = order.link_values
        limits = {"head_urls": head_urls, "cache_urls": self.rng.choice([10, 10_000]), "is_divided": way.links_sites}
        self.frontier = engine.frontier(order, way.rule(), records_pulls=True, **limits)
        for number in self.sites:
            self._open(number)
        self.frontier.add([Candidate(number, target_on(number, "/")) for number in self.sites], NOW)

    def _open(self, number):
        self.frontier.open_site(SiteRow(number, f"http://host{number}.test", 2, 3, 0.0), self.now)

    def step(self):
        self.now += self.rng.choice([0, 1])
        number = self.rng.choice(self.sites)
        if self.rng.random() < 0.05 and not any(lease.site_id == number for lease in self.in_flight):
            self.close(number)
            self._open(number)
        goes_on = super().step()
        self._check()
        return goes_on

    def end(self, lease):
        rng = self.rng
        target = target_on(rng.choice(self.sites), f"/p{rng.randrange(200)}")
        variant = target_on(lease.site_id, lease.url.partition(".test")[2] + "?")
        fate = rng.choice(["released", "rests", "fails", "refused", "moves", "varies", *["read"] * 6])
        if fate == "fails" and lease.attempts < 3:
            self.retry(lease)
        elif fate == "rests":
            self.retry(lease, 3)
        elif fate == "refused":
            self.acknowledge(lease, State.REJECTED, reason="robots_disallows")
        elif fate == "moves" and target.url != lease.url and lease.hops < 9:
            self.acknowledge(lease, State.MOVED, moved_to=target)
        elif fate == "varies" and variant.key == lease.key and variant.url != lease.url and lease.hops < 9:
            self.acknowledge(lease, State.MOVED, moved_to=variant)
        elif fate == "read":
            paths = (rng.choice(["/p%d", "/p%d/", "//p%d"]) % rng.randrange(400) for _ in range(rng.choice([0, 3, 20])))
            sites = self.sites if self._way.links_sites else [lease.site_id]
            found = {one.key: one for one in (target_on(rng.choice(sites), path) for path in paths)}
            places = dict.fromkeys(found, LinkPlace("ul/li", "ul/li", "a page"))
            values = {key: rng.choice([0.0, 0.0, 0.2, 0.7]) for key in found}
            known = LinkFacts(places, values if self._way.links_sites else None)
            more = linked(lease, found.values()) | {"known": known}
            self.acknowledge(lease, reward=rng.choice(self._way.rewards), **more)
        else:
            self.frontier.release(lease, self.now)

    def _check(self):
        sites = self.frontier.schedule.sites.values()
        leased = {lease.id for lease in self.in_flight}
        resting = {number for site in sites for number in site.resting}
        assert set(self.frontier._learning.features) <= leased | resting
        assert all(one.level == 0 or one.id in self.frontier._learning.features for one in self.in_flight)
        for site in sites:
            for queue in site.queues.values():
                assert isinstance(queue, ValueQueue)
                queued = [*queue._links.ids.tolist(), *queue._homes]
                assert len(queued) == len(set(queued))
                assert leased.isdisjoint(queued)

    def replayed(self):
        """Return what the stored pulls teach."""
        values = self._way.order().link_values
        for one in pulls_on(self.engine, self.sites):
            values.learn([] if one.features is None else features_of(one.features).tolist(), one.reward)
        return values
