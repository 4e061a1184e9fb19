"""Random crawls that learn from links: with kills, and with everything that may happen to a page."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from crawlers.algorithms.bandits.best_site import Best
from crawlers.algorithms.bandits.turns import RoundRobin
from crawlers.algorithms.ranking.link_features import features_of
from crawlers.algorithms.ranking.link_values import LinkValues
from crawlers.algorithms.ranking.page_orders import learnt, relevant_first
from crawlers.algorithms.topic.vectors import STRATEGIES
from crawlers.algorithms.urls.resolution import site_of
from crawlers.frontier.queues.value_queue import ValueQueue
from crawlers.frontier.values import Candidate, Decision, Reward
from crawlers.items import LinkPlace, Page, PageAnalysis, State
from crawlers.storage.pulls import pulls_of
from crawlers.storage.site_rows import SiteRow
from tests.contracts.site import NOW, target_on

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.algorithms.bandits.site_rules import SiteRule
    from crawlers.algorithms.ranking.page_orders import PageOrder

MAX_STEPS = 1_000  # more than any of these crawls needs


class Way(NamedTuple):
    """A kind of crawl that learns from links."""

    order: Callable[[], PageOrder]
    rule: Callable[[], SiteRule]
    rewards: tuple[float, ...]
    links_sites: bool  # pages link to pages of other sites, and the texts of their links have a relevance


HARVEST = Way(lambda: learnt(LinkValues()), RoundRobin, (0.0, 2.0, 600.0), links_sites=False)
TOPIC = Way(lambda: relevant_first(STRATEGIES["learnt"]), Best, (0.0, 0.1, 0.9), links_sites=True)


class Crawl:
    """A crawl of a random web of two sites, one request in flight; *seed* decides on the web, *kills* are accidents."""

    def __init__(self, engine, seed, way, *, kills):
        self._way = way
        self._accidents = random.Random(seed)
        self._head_urls = random.Random(seed).choice([2, 32, 100_000])
        self._seed, self._kills, self._engine = seed, kills, engine
        self._ids = [engine.new_site(), engine.new_site()]
        self._open()

    def _open(self):
        limits = {"records_pulls": True, "cache_urls": 10, "head_urls": self._head_urls}
        self._frontier = self._engine.frontier(self._way.order(), self._way.rule(), **limits)
        self._frontier.learn(pulls_on(self._engine, self._ids))
        for number in self._ids:
            self._frontier.open_site(SiteRow(number, f"http://host{number}.test", 1, None, 0.0), NOW)
        self._frontier.add([Candidate(number, target_on(number, "/p0")) for number in self._ids], NOW)

    def run(self):
        """Crawl to the end; return the pages that were read, in order, without those whose results were lost."""
        read = []
        held = self._engine.held
        for _ in range(MAX_STEPS):
            if self._kills and self._accidents.random() < 0.1:
                self._kills -= 1
                held.commit(self._accidents.randint(0, held.pending))
                held.lose()
                self._open()
                read = read[: len(pulls_on(self._engine, self._ids))]
            elif self._accidents.random() < 0.2:
                held.flush()
            leases = self._frontier.lease(NOW, 1)
            if not leases:
                return read
            read.append(self._place_of(leases[0]))
            self._end(leases[0])
        raise AssertionError("the crawl does not end")

    def _place_of(self, lease):
        return self._ids.index(lease.site_id), lease.url.partition(".test")[2]

    def _end(self, lease):
        site, path = self._place_of(lease)
        web = random.Random(f"{self._seed} {site} {path}")
        fate = web.random()
        if fate < 0.1 and not lease.attempts:
            self._frontier.release(lease, NOW, "no answer", failed=True)
            return
        others = list(dict.fromkeys(f"/p{web.randrange(120)}" for _ in range(web.choice([0, 3, 12]))))
        targets = {other: target_on(lease.site_id, other) for other in others}
        if self._way.links_sites:
            sites = [web.randrange(2) for _ in others]
            targets = {other: target_on(self._ids[to], other) for other, to in zip(others, sites, strict=True)}
        if fate < 0.2 and others and lease.hops < 10 and targets[others[0]].url != lease.url:
            page = Page(lease.id, lease.url, lease.level, State.MOVED, moved_to=targets[others[0]])
            self._frontier.acknowledge(lease, Decision(page), NOW)
            return
        places = {one.key: LinkPlace(f"ul/{int(to[2:]) % 3}", "", f"to {to}") for to, one in targets.items()}
        page = Page(lease.id, lease.url, lease.level, State.DONE, link_places=places, **linked(lease, targets.values()))
        if self._way.links_sites:
            values = {one.key: web.choice([0.0, 0.0, 0.2, 0.7]) for one in targets.values()}
            page = replace(page, analysis=PageAnalysis({}, values, []))
        reward = len(path) % 3 * web.choice(self._way.rewards) / 2
        self._frontier.acknowledge(lease, Decision(page), NOW, Reward(reward))


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


class Accidents:
    """A crawl of two sites, several requests in flight, in which everything happens that may happen to a page."""

    def __init__(self, engine, seed, way, head_urls):
        self._rng = random.Random(seed)
        self._way = way
        self._engine = engine
        order = way.order()
        assert order.link_values is not None
        self.values = order.link_values
        limits = {"head_urls": head_urls, "cache_urls": self._rng.choice([10, 10_000]), "is_divided": way.links_sites}
        self._frontier = self._engine.frontier(order, way.rule(), records_pulls=True, **limits)
        self._ids = [self._engine.new_site(), self._engine.new_site()]
        self._now = NOW
        self._leases = []
        for number in self._ids:
            self._open(number)
        self._frontier.add([Candidate(number, target_on(number, "/")) for number in self._ids], NOW)

    def _open(self, number):
        self._frontier.open_site(SiteRow(number, f"http://host{number}.test", 2, 3, 0.0), self._now)

    def run(self):
        rng = self._rng
        for _ in range(600):
            self._now += rng.choice([0, 1])
            if rng.random() < 0.5:
                self._leases += self._frontier.lease(self._now, 1)
            if self._leases and rng.random() < 0.6:
                self._end(self._leases.pop(rng.randrange(len(self._leases))))
            if rng.random() < 0.05:
                number = rng.choice(self._ids)
                if not any(lease.site_id == number for lease in self._leases):
                    self._engine.held.submit(self._frontier.close_site(number, self._now))
                    self._engine.held.flush()
                    self._open(number)
            self._check()

    def _end(self, lease):
        rng, frontier, now = self._rng, self._frontier, self._now
        target = target_on(rng.choice(self._ids), f"/p{rng.randrange(200)}")
        variant = target_on(lease.site_id, lease.url.partition(".test")[2] + "?")
        fate = rng.choice(["released", "rests", "fails", "refused", "moves", "varies", *["read"] * 6])
        if fate == "fails" and lease.attempts < 3:
            frontier.release(lease, now, "no answer", failed=True)
        elif fate == "rests":
            frontier.release(lease, now + 3, "no answer", failed=True)
        elif fate == "refused":
            self._acknowledge(lease, State.REJECTED, reason="robots_disallows")
        elif fate == "moves" and target.url != lease.url and lease.hops < 9:
            self._acknowledge(lease, State.MOVED, moved_to=target)
        elif fate == "varies" and variant.key == lease.key and variant.url != lease.url and lease.hops < 9:
            self._acknowledge(lease, State.MOVED, moved_to=variant)
        elif fate == "read":
            paths = (rng.choice(["/p%d", "/p%d/", "//p%d"]) % rng.randrange(400) for _ in range(rng.choice([0, 3, 20])))
            ids = self._ids if self._way.links_sites else [lease.site_id]
            found = {one.key: one for one in (target_on(rng.choice(ids), path) for path in paths)}
            places = dict.fromkeys(found, LinkPlace("ul/li", "ul/li", "a page"))
            values = {key: rng.choice([0.0, 0.0, 0.2, 0.7]) for key in found}
            analysis = PageAnalysis({}, values, []) if self._way.links_sites else None
            more = linked(lease, found.values()) | {"link_places": places, "analysis": analysis}
            self._acknowledge(lease, State.DONE, rng.choice(self._way.rewards), **more)
        else:
            frontier.release(lease, now)

    def _acknowledge(self, lease, state, reward=0.0, **more):
        page = Page(lease.id, lease.url, lease.level, state, **more)
        self._frontier.acknowledge(lease, Decision(page), self._now, Reward(reward))

    def _check(self):
        sites = self._frontier.schedule.sites.values()
        leased = {lease.id for lease in self._leases}
        resting = {number for site in sites for number in site.resting}
        assert set(self._frontier._learning.features) <= leased | resting
        assert all(one.level == 0 or one.id in self._frontier._learning.features for one in self._leases)
        for site in sites:
            for queue in site.queues.values():
                assert isinstance(queue, ValueQueue)
                queued = [*queue._links.ids.tolist(), *queue._homes]
                assert len(queued) == len(set(queued))
                assert leased.isdisjoint(queued)

    def replayed(self):
        """Return what the stored pulls teach."""
        values = self._way.order().link_values
        for one in pulls_on(self._engine, self._ids):
            values.learn([] if one.features is None else features_of(one.features).tolist(), one.reward)
        return values
