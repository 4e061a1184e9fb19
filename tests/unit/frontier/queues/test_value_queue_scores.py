"""A queue by scores and by what was learnt of links chooses alike, whichever URLs are in memory."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.ranking.link_features import link_features
from crawlers.algorithms.ranking.link_relevance import LinkRelevance
from crawlers.algorithms.ranking.link_table import NO_FEATURES
from crawlers.algorithms.ranking.topic_scores import TopicScores
from crawlers.algorithms.topic.vectors import STRATEGIES
from crawlers.frontier.link_learning import LinkLearning
from crawlers.frontier.queues import value_queue
from crawlers.frontier.queues.heap_queue import ALL, NONE
from crawlers.items import LinkPlace
from tests.support.frontier_scores import entry

SITE = "http://a.test"
WORDS = ("old", "fair", "news")
READ = 10**6  # the number of a page that was read, from which links raise scores


def features(word):
    return np.array(link_features(SITE, f"{SITE}/{word}/x", 1, 1, LinkPlace("", "", word)), np.uint32)


class WaitingRows:
    """A frontier store in memory: the waiting pages with their features, None for a home page."""

    def __init__(self, scores):
        self._scores = scores
        self.rows: dict[int, np.ndarray | None] = {}
        self.reads = 0

    def flush(self): ...

    def best(self, table, site_id, queue, limit):
        self.reads += 1
        ordered = sorted((-self._scores.score(page), page) for page in self.rows)
        return [entry(page)._replace(priority=priority) for priority, page in ordered[:limit]]

    def entries(self, page_ids):
        return [entry(page) for page in page_ids]

    def link_features(self, page_ids):
        found = {page: self.rows[page] for page in page_ids}
        return {page: row for page, row in found.items() if row is not None}


class Queue:
    """A queue of links with words, with the actions of the frontier; *most* URLs are compared."""

    def __init__(self, most=10_000):
        self.most = most
        self.scores = TopicScores(STRATEGIES["learnt"])
        self.store = WaitingRows(self.scores)
        self.held: set[int] = set()
        self.relevance = LinkRelevance(self.scores)
        self.open(ALL)

    def open(self, spill_limit):
        self.learning = LinkLearning(self.relevance, self.store)
        self.learning.compared = self.most
        self.queue = value_queue.ValueQueue(1, 0, self.learning, self.store, self.held, spill_limit)

    def push(self, page, word):
        self.store.rows[page] = None if word is None else features(word)
        self.scores.add_waiting(page, 1)
        self.again(page)

    def again(self, page):
        """Push a page that waits again, e.g. after a failure."""
        self.held.discard(page)
        if (row := self.store.rows[page]) is not None:
            self.learning.keep_features(page, row)
        self.queue.push(entry(page), self.most)

    def raise_to(self, page, worth):
        """Let a page that was read have a link to *page*."""
        self.scores.add_waiting(READ, 0)
        self.scores.fetched(READ, {page: worth})
        if page not in self.held:
            self.queue.raise_page(page, self.most)

    def pop(self):
        page = self.queue.pop().id
        self.held.add(page)
        return page

    def end(self, page, similarity=0.0):
        self.learning.learn_reward(page, similarity)
        self.learning.forget([page])
        self.held.discard(page)
        self.scores.remove_page(page)
        del self.store.rows[page]

    def next(self):
        """The page that comes next, by the definition."""
        compared = sorted((-self.scores.score(page), page) for page in self.store.rows if page not in self.held)
        pages = [page for _, page in compared[: self.most]]
        rows = [row if (row := self.store.rows[page]) is not None else NO_FEATURES for page in pages]
        values = self.relevance.values(np.array(pages), np.stack(rows)).tolist()
        return min((-value, page) for value, page in zip(values, pages, strict=True))[1]


def test_first_is_computed_again_only_if_something_was_learnt_or_queued(monkeypatch):
    queue = Queue()
    queue.push(1, "news")
    queue.push(2, "old")
    computed = []
    values = queue.relevance.values
    monkeypatch.setattr(queue.relevance, "values", lambda *args: computed.append(1) or values(*args))
    for _ in range(3):
        assert queue.queue.first[1] == 1
    assert len(computed) == 1
    queue.learning.learn_reward(99, 0.5)
    assert queue.queue.first[1] == 1
    queue.push(3, "news")
    assert queue.queue.first[1] == 1
    assert len(computed) == 3


def test_url_that_rises_over_the_spill_limit_is_read_with_its_features():
    queue = Queue(most=2)
    for page in range(1, 20):
        queue.push(page, "fair")
    assert len(queue.queue) < 6
    queue.raise_to(19, 0.7)
    assert queue.queue.first[1] == 19
    assert queue.pop() == 19
    assert queue.learning._features[19].tolist() == features("fair").tolist()


def test_memory_is_bounded(monkeypatch):
    queue = Queue(most=20)
    for page in range(1, 2_000):
        queue.push(page, "news" if page % 3 else "fair")
    assert len(queue.queue) <= 40
    assert len(queue.queue._entries) <= 2 * (value_queue.LOADED + 2)
    assert not queue.learning._features


events = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.sampled_from([*WORDS, None])),
        st.tuples(st.just("push"), st.sampled_from(WORDS)),
        st.tuples(st.just("lease"), st.sampled_from([None, 0.0, 0.1, 0.9])),
        st.tuples(st.just("rise"), st.tuples(st.integers(0, 100), st.sampled_from([0.1, 0.5]))),
        st.tuples(st.just("retry"), st.none()),
        st.tuples(st.just("discard"), st.integers(0, 100)),
        st.tuples(st.just("kill"), st.none()),
    ),
    max_size=60,
)


@given(events, st.integers(1, 5))
def test_choices_depend_on_nothing_but_what_waits(history, most):
    """After a kill, as without: the queue is read from the store, and the same URLs are compared."""
    queue = Queue(most)
    leased: list[int] = []
    number = 0
    for kind, value in history:
        waiting = [page for page in queue.store.rows if page not in queue.held]
        if kind == "push":
            number += 1
            queue.push(number, value)
        elif kind == "lease" and waiting:
            expected = queue.next()
            page = queue.pop()
            assert page == expected
            if value is None:
                leased.append(page)
            else:
                queue.end(page, value)
        elif kind == "rise" and waiting:
            queue.raise_to(waiting[value[0] % len(waiting)], value[1])
        elif kind == "discard" and waiting:
            page = waiting[value % len(waiting)]
            queue.queue.discard(page)
            queue.again(page)
        elif kind == "retry" and leased:
            queue.again(leased.pop())
        elif kind == "kill":
            leased.clear()
            queue.held.clear()
            queue.open(NONE)
            if queue.store.rows:
                queue.queue.refill(queue.most)
    waiting = [page for page in queue.store.rows if page not in queue.held]
    assert [queue.pop() for _ in waiting] != [] or not waiting
    assert queue.queue.is_empty
