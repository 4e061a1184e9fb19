"""The result of a crawl does not depend on caches, concurrency, interleaving, kills, failures and rests."""

import os
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.frontier.values import Candidate, Decision
from crawlers.items import Page, State
from crawlers.storage.site_rows import SiteRow
from tests.contracts.webs import (
    BANNED,
    MAX_ATTEMPTS,
    Kind,
    PageSpec,
    Row,
    Way,
    answer,
    budget,
    expected,
    page_of,
    target,
    webs,
)
from tests.support.frontier_state import counts_of, pending_of

EXAMPLES = int(os.environ.get("WEB_EXAMPLES", "80"))
MAX_STEPS = 5_000  # far more than any of these crawls needs: one that takes longer does not end


class Crawl:
    """One crawl of *web* with accidents; *rng* decides on all of them."""

    def __init__(self, engine, web, max_level, rng):
        self._engine = engine
        self._web = web
        self._max_level = max_level
        self._rng = rng
        self._now = 0.0
        self._site_id = engine.new_site()
        self._in_flight = []
        self._asked = set()  # pages that are leased or ended, as far as this process knows
        self._is_paused = False
        self._kills = rng.choice([0, 0, 2, 5])
        self._open()

    def _open(self):
        self._begin()
        self._open_site()
        self._frontier.add([Candidate(self._site_id, target(Way(0, 0)))], self._now)
        self._in_flight.clear()
        self._asked.clear()

    def _begin(self):
        self._frontier = self._engine.frontier(
            reason_against=lambda found: "extension banned" if page_of(found.key) == BANNED else None,
            cache_urls=self._rng.choice([1, 2, 10, 1000]),
        )

    def _open_site(self):
        rng = self._rng
        parallel, delay_s = rng.choice([1, 2, 5]), rng.choice([0.0, 1.0])
        row = SiteRow(self._site_id, f"http://host{self._site_id}.test", parallel, self._max_level, delay_s)
        self._frontier.open_site(row, self._now)
        # Less than any setting allows, so that a part of a small web's queue stays in the store.
        self._frontier._discovery.head_urls = rng.choice([1, 2, 1000])
        self._is_paused = False

    def _move(self):
        """Close the site, and open it again, sometimes later or elsewhere."""
        self._engine.held.submit(self._frontier.close_site(self._site_id, self._now))
        assert not self._frontier.has_pending
        self._engine.held.flush()
        self._now += self._rng.choice([0, 0, 2.5])
        if self._rng.random() < 0.5:
            self._begin()
        self._open_site()

    def run(self):
        for _ in range(MAX_STEPS):
            if self._accident():
                continue
            leases = self._frontier.lease(self._now, self._rng.choice([1, 1, 3]))
            for lease in leases:
                assert lease.id not in self._asked, f"{lease.url} is leased twice"
                self._asked.add(lease.id)
            self._in_flight += leases
            if self._in_flight and (not leases or self._rng.random() < 0.5):
                self._end(self._in_flight.pop(self._rng.randrange(len(self._in_flight))))
            elif not leases and not self._wait():
                return self._outcome()
        raise AssertionError("the crawl does not end")

    def _wait(self):
        due = self._frontier.next_due(self._now)
        if due is None and self._is_paused:
            self._pause(False)
            return True
        assert self._frontier.has_pending == (due is not None)
        if due is None:
            assert not self._frontier.is_waiting, "something waits that is never leased"
            assert pending_of(self._frontier) == 0
            return False
        self._now += due
        return True

    def _accident(self):
        rng, chance = self._rng, self._rng.random()
        if chance < 0.05 and self._kills:
            self._kills -= 1
            self._engine.held.commit(rng.randint(0, self._engine.held.pending))
            self._engine.held.lose()
            self._open()
        elif chance < 0.08:
            self._pause(not self._is_paused)
        elif chance < 0.11 and not self._in_flight:
            self._move()
        elif chance < 0.20 and self._in_flight:
            lease = self._in_flight.pop(rng.randrange(len(self._in_flight)))
            self._asked.discard(lease.id)
            self._frontier.release(lease, rng.choice([self._now, self._now + 3]))
        elif chance < 0.23:
            self._frontier.gate(self._site_id).back_off(self._now, 5.0)
        elif chance < 0.26:
            self._engine.held.commit(rng.randint(0, self._engine.held.pending))
        else:
            return False
        return True

    def _pause(self, pause):
        self._is_paused = pause
        if pause:
            self._frontier.pause(self._site_id)
        else:
            self._frontier.resume(self._site_id, self._now)

    def _end(self, lease):
        page = page_of(lease.key)
        if lease.attempts < self._web[page].failures:
            if lease.attempts < MAX_ATTEMPTS:
                self._asked.discard(lease.id)
                self._frontier.release(lease, self._now + self._rng.choice([0, 2]), "no answer", failed=True)
            else:
                failed = Page(lease.id, lease.url, lease.level, State.FAILED)
                self._frontier.acknowledge(lease, Decision(failed), self._now)
            return
        state, links, moved = answer(self._web, page, lease.url)
        found = [(target(way), count) for way, count in Counter(links).items()]
        moved_to = None if moved is None else target(moved)
        result = Page(lease.id, lease.url, lease.level, state, links=found, moved_to=moved_to)
        self._frontier.acknowledge(lease, Decision(result), self._now)
        if self._frontier.leased(lease.id) is None and result.moved_to and moved.page == page:
            self._asked.discard(lease.id)  # it may be requested again, in its other variant

    def _outcome(self):
        rows = self._engine.rows(self._site_id)
        assert counts_of(self._frontier)[self._site_id] == Counter(State(row["state"]) for row in rows)
        page = {row["id"]: page_of(row["key"]) for row in rows}
        stored = self._engine.links().items()
        links = {(page[source], page[found]): count for (source, found), count in stored if source in page}
        ends = [Row(row["url"], row["level"], State(row["state"]), page.get(row.get("moved_to"))) for row in rows]
        return dict(zip(page.values(), ends, strict=True)), links


def _agreed(outcome):
    # The level of a page that is never requested is not updated by shorter paths.
    rows, links = outcome
    return {p: r._replace(level=0) if p == BANNED else r for p, r in rows.items()}, links


@pytest.mark.both_stores
@budget(EXAMPLES)
@given(web=webs(), max_level=st.sampled_from([None, None, 1, 2]), seed=st.integers(0, 1_000_000))
def test_any_crawl_ends_as_the_model_predicts(engine, web, max_level, seed):
    assert _agreed(Crawl(engine, web, max_level, random.Random(seed)).run()) == _agreed(expected(web, max_level))


def test_model_knows_levels_redirects_and_variants():
    web = (
        PageSpec(Kind.PAGE, (Way(1, 3), Way(1, 2), Way(2, 0), Way(2, 0))),
        PageSpec(Kind.PAGE, (Way(3, 0),)),
        PageSpec(Kind.MOVED, (Way(4, 1),)),
        PageSpec(Kind.PAGE, ()),
        PageSpec(Kind.CANONICAL, (Way(4, 0),)),
    )
    rows, links = expected(web, 1)
    assert rows == {
        0: Row("http://a.test/", 0, State.DONE, None),
        1: Row("http://a.test//p1/", 1, State.DONE, None),
        2: Row("http://a.test/p2/", 1, State.MOVED, 4),
        3: Row("http://a.test/p3/", 2, State.REJECTED, None),
        4: Row("http://a.test/p4/", 1, State.DONE, None),
    }
    assert links == {(0, 1): 2, (0, 2): 2, (1, 3): 1, (4, 4): 1}
