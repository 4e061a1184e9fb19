"""Crawls of random webs in an order with scores, with accidents, and the rows that each must have stored.

The web has sites whose pages link to each other. When requested, a page exists, is unchanged, has changed, is gone,
has moved, is unavailable, or is forbidden; each visit draws its result at random.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from crawlers.bandits.index_rule import Best
from crawlers.crawl.leasing import fail_loop
from crawlers.frontier.values import Candidate, Decision
from crawlers.items import GONE, Page, State
from crawlers.store.sites.site_opening import SiteRow
from crawlers.store.writing.pulls import Pull
from tests.contracts.random_crawl import RandomCrawl
from tests.contracts.site import target_on
from tests.support.frontier_state import counts_of, pending_of
from tests.support.naive_opic import NaiveOPIC, cash_of
from tests.support.stored_rows import add_sites

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.ranking.page_orders import PageOrder

MAX_CASH_APART = 1e-9


@cache
def target_of(name):
    return target_on(name[0], f"/p{name[1]}/")


@cache
def name_of(url):
    host, _, path = url.removeprefix("http://host").partition(".test/p")
    return int(host), int(path.rstrip("/"))


@dataclass
class Visited:
    """A page as of its last visit."""

    state: State = State.WAITING
    text: int = 0  # stands for the content
    links: dict = field(default_factory=dict)
    page_changes: int = 0
    link_changes: int = 0

    def looks(self, state, text):
        return (self.state, self.text) == (state, text)


class Story:
    """The expected state, in dicts: cash page by page, and the current pages. It shares no code with the frontier."""

    def __init__(self, weight):
        self.opic = NaiveOPIC(uncrawled_weight=weight)
        self.pages = {}

    def found(self, names, level):
        for name in names:
            if name not in self.pages:
                self.pages[name] = Visited()
                self.opic.add_waiting(name, level)

    def paid(self, name):
        self.opic.fetched(name, dict(self.pages[name].links))

    def is_now(self, name, state, text, links, *, is_revisit):
        page = self.pages[name]
        if is_revisit:
            page.page_changes += 1
            page.link_changes += sum(page.links.get(to) != links.get(to) for to in page.links.keys() | links.keys())
        page.state, page.text, page.links = state, text, links


@dataclass(frozen=True)
class Way:
    """The options of a crawl."""

    order: Callable[[], PageOrder]
    seed: int = 0
    weight: float = 1.0  # the order's uncrawled_weight, if its scores are cash
    heads: tuple[int, ...] = (1000,)  # one is chosen whenever the frontier is opened
    sites: int = 3
    pages: int = 12  # of a site
    parallel: tuple[int, ...] = (1,)
    delays_s: tuple[float, ...] = (0.0,)
    accidents: bool = True
    rejects: bool = True  # as robots.txt may at a later visit; the page is then not requested again
    caches: tuple[int, ...] = (1000,)


class ScoredCrawl(RandomCrawl):
    """A crawl of a random web; it can be reopened, as after a kill."""

    batches = (1,)

    def __init__(self, engine, way):
        super().__init__(engine, random.Random(way.seed), way.sites)
        self.way = way
        self.end_p = 1.0 if way.parallel == (1,) else 0.6
        self.names = [(site, number) for site in self.sites for number in range(way.pages)]
        self.texts = {}
        self.url_history = Story(way.weight)
        self.pulls = []
        self.asked = []
        self.steps = 0
        self.open()
        roots = [(site, 0) for site in self.sites]
        self.frontier.add([Candidate(site, target_of((site, n))) for site, n in roots], self.now)
        self.url_history.found(roots, 0)

    def open(self, sites=None, max_level=None):
        """Begin, or resume after a kill, with *sites* (None: all)."""
        way, rng = self.way, random.Random(f"{self.way.seed} {self.steps}")
        self.order = way.order()
        assert self.order.scores is not None
        self.scores = self.order.scores
        self.frontier = self.engine.frontier(self.order, Best(), cache_urls=rng.choice(way.caches))
        self.opened = tuple(sites or self.sites)
        for site in self.opened:
            limits = (rng.choice(way.parallel), rng.choice(way.delays_s))
            self.frontier.open_site(SiteRow(site, f"http://host{site}.test", limits[0], max_level, limits[1]), self.now)
        self.frontier.learn(self.pulls)
        self.frontier.discovery.head_urls = rng.choice(way.heads)
        self.in_flight.clear()

    @property
    def is_at_rest(self):
        """Whether a kill would lose nothing: no page is in flight or rests."""
        return not self.in_flight and not self.frontier.schedule._resting

    @property
    def asked_by_place(self):
        """The requested pages, with the places of their sites, and whether they were revisits."""
        return [(self.sites.index(site), number, is_revisit) for (site, number), is_revisit in self.asked]

    def reopen(self):
        """Kill it right after a commit, and resume it."""
        self.engine.held.flush()
        self.open()

    def limit(self, max_level):
        """Kill it right after a commit, and resume it with another deepest level for all sites."""
        self.engine.held.flush()
        for site in self.sites:
            row = SiteRow(0, f"http://host{site}.test", 1, max_level, 0.0)
            add_sites(self.engine.database, self.engine.crawl_id, row, now=self.now)
        self.url_history = None
        self.open(max_level=max_level)

    # One step ----------------------------------------------------------------------------------------

    def step(self):
        self.steps += 1
        self.rng = random.Random(f"{self.way.seed} step {self.steps}")
        self.now += self.rng.choice([0.001, 0.001, 2.0])
        self._allowed = self.allowed()
        return super().step()

    def take(self, leases):
        super().take(leases)
        assert leases or not self._allowed, "a page may be requested, but is not leased"
        for lease in leases:
            self.check(lease, self._allowed)
            self.asked.append((name_of(lease.url), lease.is_revisit))

    def allowed(self):
        """Return the pages that may be requested, with their scores as in the order, whatever is in the queues."""
        frontier, scores = self.frontier, self.scores
        frontier.schedule.wake(self.now)
        resting = {page.id for until, _, page, _ in frontier.schedule._resting if until > self.now}
        leased = {lease.id for lease in self.in_flight}
        found = {}
        for page, site_id in frontier.scoring._site_of.items():
            site = frontier.schedule.sites.get(site_id)
            if site is None or scores.queue(page) == GONE or page in leased or page in resting:
                continue
            if site.gate.in_flight < site.gate.parallel and site.gate.next_at <= self.now:
                found[page] = scores.score(page) + scores.offset(scores.queue(page))
        return found

    def check(self, lease, allowed):
        assert lease.id in allowed
        assert allowed[lease.id] >= max(allowed.values()) - MAX_CASH_APART
        assert lease.is_revisit == (self.scores.queue(lease.id) == 1)
        if self.url_history is not None and hasattr(self.scores, "cash"):
            cash = self.url_history.opic.cash
            name = name_of(lease.url)
            assert abs(self.scores.cash(lease.id) - cash[name]) < MAX_CASH_APART
            if self.scores._policy == "greedy":
                assert cash[name] >= max(allowed.values()) - MAX_CASH_APART

    def release(self, lease):
        failed, until = self.rng.random() < 0.5, self.rng.choice([self.now, self.now + 3])
        self.frontier.release(lease, until, "no answer", failed=failed)
        if failed:
            self.pulls.append(Pull(lease.site_id, 0.0))

    # Results of a page -------------------------------------------------------------------------------

    def end(self, lease):
        rng, name = self.rng, name_of(lease.url)
        chance = rng.random() if self.way.accidents else 1.0
        if chance < 0.05:
            self.release(lease)
            return
        page = Page(lease.id, lease.url, lease.level, State.DONE, 200)
        if chance < 0.09:
            page = replace(page, state=State.REFUSED, status=rng.choice([404, 503]))
        elif chance < 0.13:
            page = replace(page, state=State.FAILED, status=0)
        elif chance < 0.15 and self.way.rejects:
            page = replace(page, state=State.REJECTED, status=0, reason="robots_disallows")
        elif chance < 0.18:
            target = target_of(rng.choice([name for name in self.names if name[0] in self.opened]))
            page = replace(page, state=State.MOVED, status=301, moved_to=target)
        elif lease.is_revisit and chance < 0.35:
            page = replace(page, is_unchanged=True, status=304)
        else:
            page = self._text(name, page)
        self.tell(lease, page, name)
        if page.state is not State.REJECTED:
            self.pulls.append(Pull(lease.site_id, 0.0))
        self.frontier.acknowledge(lease, Decision(fail_loop(lease, page)), self.now)

    def read(self, lease, links):
        """The page is there, a moment later, with these links."""
        self.now += 1.0
        page = Page(lease.id, lease.url, lease.level, State.DONE, 200)
        page = self._show(page, name_of(lease.url), self.texts.get(name_of(lease.url), (0, {}))[0] + 1, links)
        self.frontier.acknowledge(lease, Decision(fail_loop(lease, page)), self.now)

    def _text(self, name, page):
        """The page as it is now: every third visit finds it changed."""
        text, links = self.texts.get(name, (0, {}))
        if not text or self.rng.random() < 0.33:
            number = self.rng.choice([0, 1, 3, 6])
            links = {self.rng.choice(self.names): self.rng.choice([1, 1, 2]) for _ in range(number)}
            text += 1
        return self._show(page, name, text, links)

    def _show(self, page, name, text, links):
        self.texts[name] = text, links
        return replace(
            page,
            content_hash=repr((name, text)).encode(),
            links=[(target_of(to), count) for to, count in links.items() if to[0] == name[0]],
            cross_site_links=[(target_of(to), count) for to, count in links.items() if to[0] != name[0]],
        )

    def tell(self, lease, page, name):
        url_history = self.url_history
        if url_history is None:
            return
        moved_to = name_of(page.moved_to.url) if page.moved_to is not None else None
        fails = page.state in (State.FAILED, State.REJECTED) or moved_to == name or page.status == 503
        text = self.texts[name][0] if page.state is State.DONE and not page.is_unchanged else 0
        if lease.is_revisit and (fails or page.is_unchanged or url_history.pages[name].looks(page.state, text)):
            if page.state is State.REJECTED:
                url_history.opic.remove_page(name)
            else:
                url_history.paid(name)
            return
        if page.state is State.DONE:
            links = self.texts[name][1]
            url_history.found(links, lease.level + 1)
            url_history.is_now(name, State.DONE, text, links, is_revisit=lease.is_revisit)
            url_history.paid(name)
            return
        state = State.FAILED if moved_to == name else page.state
        url_history.is_now(name, state, 0, {}, is_revisit=lease.is_revisit)
        if lease.is_revisit and state is State.REFUSED:
            url_history.paid(name)
        elif moved_to is None or moved_to == name:
            url_history.opic.remove_page(name)
        else:
            url_history.found([moved_to], lease.level)
            url_history.opic.record_alias(name, moved_to)

    # What is stored ----------------------------------------------------------------------------------

    def rows(self):
        return {name_of(row["url"]): row for site in self.sites for row in self.engine.rows(site)}

    def check_store(self):
        """Check the stored rows and the counts against the model."""
        assert self.url_history is not None
        rows = self.rows()
        names = {row["id"]: name for name, row in rows.items()}
        pages = self.url_history.pages
        assert {name: State(row["state"]) for name, row in rows.items()} == {n: p.state for n, p in pages.items()}
        links = {(names[s], names[t]): count for (s, t), count in self.engine.links().items() if s in names}
        assert links == {(name, to): n for name, page in pages.items() for to, n in page.links.items()}
        for table, key in (("page_change", "page_id"), ("link_change", "source_id")):
            found = Counter(names[row[key]] for row in self.engine.stored(table) if row[key] in names)
            assert found == Counter({name: getattr(page, f"{table}s") for name, page in pages.items()})
        counts = {site: Counter() for site in self.sites}
        for (site, _), row in rows.items():
            counts[site][State(row["state"])] += 1
        assert counts_of(self.frontier) == counts
        waiting = sum(self.scores.queue(page) != GONE for page, _ in self.frontier.scoring._site_of.items())
        assert pending_of(self.frontier) == waiting - len(self.in_flight)
        assert self.frontier.schedule.is_waiting == (waiting > 0)

    def cash(self):
        """Return the cash of all pages, which always is 1."""
        return cash_of(self.scores, [row["id"] for row in self.rows().values()])

    def check_cash(self):
        """Check that no cash is lost, and that every stored page waits or is done."""
        waiting = 0
        assert abs(self.cash() - 1.0) < MAX_CASH_APART
        for name, row in self.rows().items():
            queue, state = self.scores.queue(row["id"]), State(row["state"])
            # A page that vanished is revisited; one that never existed is not.
            wanted = {State.WAITING: [0], State.DONE: [1], State.REFUSED: [GONE, 1]}.get(state, [GONE])
            assert queue in wanted, (name, state)
            waiting += queue != GONE
        assert pending_of(self.frontier) == waiting
