"""The result of a crawl does not depend on caches, concurrency, interleaving, kills, failures and rests."""

import os
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.frontier.values import Candidate
from crawlers.items import State
from crawlers.store.sites.site_opening import SiteRow
from tests.contracts.random_crawl import WebCrawl
from tests.contracts.webs import (
    BANNED,
    Kind,
    PageSpec,
    Row,
    Way,
    budget,
    expected,
    page_of,
    target,
    webs,
)
from tests.support.frontier_state import counts_of, pending_of

EXAMPLES = int(os.environ.get("WEB_EXAMPLES", "80"))


class Crawl(WebCrawl):
    """One crawl of *web* with accidents; *rng* decides on all of them."""

    def __init__(self, engine, web, max_level, rng):
        super().__init__(engine, rng, [web], 0.0)
        self._max_level = max_level
        (self._site_id,) = self.sites
        self._is_paused = False
        self._kills = rng.choice([0, 0, 2, 5])
        self.open()

    def open(self):
        self._begin()
        self._open_site()
        self.frontier.add([Candidate(self._site_id, target(Way(0, 0)))], self.now)
        self.asked.clear()

    def _begin(self):
        self.frontier = self.engine.frontier(
            reason_against=lambda found: "extension banned" if page_of(found.key) == BANNED else None,
            cache_urls=self.rng.choice([1, 2, 10, 1000]),
        )

    def _open_site(self):
        rng = self.rng
        parallel, delay_s = rng.choice([1, 2, 5]), rng.choice([0.0, 1.0])
        row = SiteRow(self._site_id, f"http://host{self._site_id}.test", parallel, self._max_level, delay_s)
        self.frontier.open_site(row, self.now)
        # Less than any setting allows, so that a part of a small web's queue stays in the store.
        self.frontier.discovery.head_urls = rng.choice([1, 2, 1000])
        self._is_paused = False

    def _move(self):
        """Close the site, and open it again, sometimes later or elsewhere."""
        self.close(self._site_id)
        assert not self.frontier.has_pending
        self.now += self.rng.choice([0, 0, 2.5])
        if self.rng.random() < 0.5:
            self._begin()
        self._open_site()

    def step(self):
        return self._accident() or super().step()

    def wait(self):
        if self._is_paused and self.frontier.next_due(self.now) is None:
            self._pause(False)
            return True
        return super().wait()

    def _accident(self):
        rng, chance, held = self.rng, self.rng.random(), self.engine.held
        if chance < 0.05 and self._kills:
            self._kills -= 1
            self.kill()
        elif chance < 0.08:
            self._pause(not self._is_paused)
        elif chance < 0.11 and not self.in_flight:
            self._move()
        elif chance < 0.20 and self.in_flight:
            lease = self.in_flight.pop(rng.randrange(len(self.in_flight)))
            self.asked.discard(lease.id)
            self.frontier.release(lease, rng.choice([self.now, self.now + 3]))
        elif chance < 0.23:
            self.frontier.site(self._site_id).gate.back_off(self.now, 5.0)
        elif chance < 0.26:
            held.commit(rng.randint(0, held.pending))
        else:
            return False
        return True

    def _pause(self, pause):
        self._is_paused = pause
        if pause:
            self.frontier.schedule.pause(self._site_id)
        else:
            self.frontier.schedule.resume(self._site_id, self.now)

    def outcome(self):
        """Crawl to the end; return the stored rows and links."""
        self.run()
        assert pending_of(self.frontier) == 0
        rows = self.engine.rows(self._site_id)
        assert counts_of(self.frontier)[self._site_id] == Counter(State(row["state"]) for row in rows)
        page = {row["id"]: page_of(row["key"]) for row in rows}
        stored = self.engine.links().items()
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
    assert _agreed(Crawl(engine, web, max_level, random.Random(seed)).outcome()) == _agreed(expected(web, max_level))


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
