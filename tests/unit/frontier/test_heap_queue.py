"""A bounded queue returns the nearest or best URL although most of them are only in the store."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from crawlers.frontier.scoring import LOADED, ScoredQueue
from crawlers.frontier.site_queue import PageQueue
from crawlers.frontier.values import NONE
from crawlers.items import GONE
from tests.support.frontier_scores import FixedScores, WrittenScores, entry

pages = st.integers(1, 12)
amounts = st.integers(1, 9)
events = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["push", "push", "rise", "fall"]), pages, amounts),
        st.tuples(st.sampled_from(["back", "gone", "respell"]), pages),
        st.tuples(st.just("lease")),
    ),
    max_size=80,
)


class Queue:
    """A scored queue with the actions of the frontier: it writes risen pages, and refills when needed."""

    def __init__(self, most, **more):
        self.most = most
        self.scores = FixedScores()
        self.store = WrittenScores(self.scores)
        self.held = set()
        of_order = {"scores": self.scores, "rows": self.store, "rewrite": self.store.write}
        scoring = SimpleNamespace(store=self.store, held=self.held, **of_order)
        self.queue = ScoredQueue(1, 0, scoring, **more)

    def push(self, page, amount):
        if page not in self.scores.queues:
            self.scores.queues[page], self.scores.scores[page] = 0, amount
            self.queue.push(entry(page), self.most)
            self.store.write([page])

    def rise(self, page, amount):
        if page in self.scores.queues:
            self.scores.scores[page] += amount
            if page in self.waiting:
                self.queue.raise_page(page, self.most)
            self.store.write([page])

    def fall(self, page, amount):
        if page in self.scores.queues:
            self.scores.scores[page] -= amount

    def lease(self):
        while self.queue.first is None and self.queue.has_more:
            self.queue.write_fallen()
            self.queue.refill(self.most)
        if self.queue.first is None:
            assert not self.waiting
            return None
        found = self.queue.first[1]
        best = max(self.scores.scores[page] for page in self.waiting)
        assert self.scores.scores[found] == best
        assert self.queue.pop().id == found
        self.held.add(found)
        return found

    def back(self, page):
        if page in self.held:
            self.held.discard(page)
            self.queue.push(entry(page), self.most)

    def gone(self, page):
        if page in self.scores.queues:
            self.scores.queues[page] = GONE
            self.held.discard(page)
            self.store.write([page])

    def respell(self, page):
        if page in self.waiting:
            self.queue.discard(page)
            self.queue.push(entry(page), self.most)

    @property
    def waiting(self):
        return [page for page, queue in self.scores.queues.items() if queue == 0 and page not in self.held]


@given(events, st.integers(1, 4))
def test_pop_returns_the_best_page_after_any_rise_fall_or_release(events, most):
    queue = Queue(most)
    for name, *arguments in events:
        getattr(queue, name)(*arguments)
        assert len(queue.queue) <= 2 * most + len(queue.held)
    for page in list(queue.held):
        queue.gone(page)
    out = []
    while (page := queue.lease()) is not None:
        out.append(page)
        queue.gone(page)
    assert len(out) == len(set(out))


def test_few_pages_are_never_read_from_the_store():
    queue = Queue(10)
    for page in range(1, 6):
        queue.push(page, page)
    queue.rise(1, 9)
    queue.fall(5, 3)
    assert [queue.lease() for _ in range(5)] == [1, 4, 3, 2, 5]
    assert (queue.store.reads, queue.store.looked_up) == (0, [])


def test_page_that_rises_over_the_spill_limit_is_a_number_until_it_is_popped():
    queue = Queue(1)
    for page, score in ((1, 9), (2, 8), (3, 7), (4, 1)):
        queue.push(page, score)
    assert queue.queue.has_more
    queue.rise(4, 20)
    assert queue.lease() == 4
    assert queue.store.looked_up == [4]


def test_entries_of_many_risen_pages_are_read_at_once():
    queue = Queue(500, spill_limit=NONE)
    queue.queue.refill(1)  # nothing waits yet
    for page in range(1, 201):
        queue.scores.queues[page], queue.scores.scores[page] = 0, 0.0
        queue.rise(page, page)
    assert [queue.lease() for _ in range(200)] == list(range(200, 0, -1))
    assert sorted(set(queue.store.looked_up)) == list(range(1, 201))
    assert len(queue.store.looked_up) <= 200 + LOADED


def test_score_that_fell_below_the_spill_limit_requires_a_refill():
    queue = Queue(1)
    for page, score in ((1, 9), (2, 8), (3, 7)):
        queue.push(page, score)
    queue.fall(1, 5)
    assert queue.queue.first is None
    assert queue.lease() == 2
    assert queue.store.rows[1] == (0, 4.0), "the fallen score was written; otherwise it would be read again and again"


class Stored:
    """A frontier store that holds *entries*."""

    def __init__(self, entries):
        self._entries = sorted(entries)

    def flush(self): ...

    def waiting(self, site_id, after, limit):
        return [e for e in self._entries if (e.priority, e.id) > after][:limit]


@given(st.lists(st.floats(0, 9), max_size=60), st.integers(1, 5), st.integers(1, 5))
def test_everything_comes_out_in_order_and_the_heap_stays_small(priorities, most, limit):
    entries = [entry(number, priority) for number, priority in enumerate(priorities, 1)]
    queue = PageQueue(1, Stored(entries), ())
    for one in entries:
        queue.push(one, most)
        assert len(queue) <= 2 * most
    out = []
    while queue.first is not None or queue.has_more:
        if queue.first is None:
            queue.refill(limit)
        if queue.first is not None:
            assert queue.first == queue.first
            out.append(queue.pop())
    assert out == sorted(entries)
