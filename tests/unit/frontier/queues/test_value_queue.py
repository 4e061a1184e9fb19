"""A queue by learnt values compares the URLs that were found first, although most may only be in the store."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.ranking.link_features import link_features
from crawlers.algorithms.ranking.link_prior import prior_of
from crawlers.algorithms.ranking.link_values import CLOSE, MOST_COMPARED, LinkValues
from crawlers.frontier.link_learning import LinkLearning
from crawlers.frontier.queues import value_queue
from crawlers.frontier.queues.heap_queue import NONE
from crawlers.items import LinkPlace
from tests.support.frontier_scores import entry

SITE = "http://a.test"
WORDS = {"old": -4.0, "poor": -2.0, "fair": 0.0, "good": 2.0, "news": 4.0}  # with weights that are far from each other


def features(word, number=0):
    return np.array(link_features(SITE, f"{SITE}/{word}/{number}", 1, 1, LinkPlace("ul/li", "ul/li", "")), np.uint32)


class WaitingRows:
    """A frontier store in memory: the waiting pages with their features."""

    def __init__(self):
        self.rows: dict[int, np.ndarray] = {}
        self.lookups = 0
        self.refills = 0

    def flush(self): ...

    def waiting(self, site_id, after, limit):
        self.refills += 1
        return [entry(page) for page in sorted(self.rows) if (0.0, page) > after][:limit]

    def entries(self, page_ids):
        self.lookups += 1
        return [entry(page) for page in page_ids]

    def link_features(self, page_ids):
        return {page: self.rows[page] for page in page_ids}


class Queue:
    """A queue of links with words, with the actions of the frontier; *most* URLs are compared."""

    def __init__(self, most=10_000, words=WORDS):
        self.most = most
        self.store = WaitingRows()
        self.held: set[int] = set()
        self.values = LinkValues(prior_of({"url": words}))
        self.learning = LinkLearning(self.values, self.store)
        self.learning.compared = self.most
        self.queue = value_queue.ValueQueue(1, 0, self.learning, self.store, self.held)

    def push(self, page, word="fair"):
        self.store.rows[page] = features(word)
        self.again(page)

    def again(self, page):
        """Push a page that waits again, e.g. after a failure."""
        self.held.discard(page)
        self.learning.keep_features(page, self.store.rows[page])
        self.queue.push(entry(page), self.most)

    def pop(self):
        page = self.queue.pop().id
        self.held.add(page)
        return page

    def end(self, page, reward=0.0):
        self.learning.learn_reward(page, reward)
        self.learning.forget([page])
        self.held.discard(page)
        del self.store.rows[page]

    def all(self):
        found = []
        while not self.queue.is_empty or self.queue.has_more:
            found.append(self.pop())
            self.end(found[-1])
        return found


def test_unknown_group_is_tried_before_one_that_disappointed():
    """The bonus: of a group that was read often and brought as much as is expected, less is unknown."""
    queue = Queue(words={})
    row = link_features(SITE, f"{SITE}/known/0", 1, 1, LinkPlace("ul/li", "ul/li", ""))
    for _ in range(50):
        queue.values.learn(row.tolist(), 1.0)
    for page, word in ((1, "known"), (2, "unknown")):
        queue.push(page, word)
    expected = queue.values.values(np.stack([features("known"), features("unknown")]))
    assert abs(np.log(expected[0] / expected[1])) < CLOSE
    assert queue.pop() == 2


def test_home_pages_are_first_in_the_order_of_discovery():
    queue = Queue()
    queue.push(1, "news")
    for page in (4, 2):
        queue.queue.push(entry(page), 10)
    assert queue.queue.first == (float("-inf"), 2)
    assert [queue.pop() for _ in range(3)] == [2, 4, 1]


def test_page_that_was_discarded_or_leased_waits_again_with_its_features():
    queue = Queue()
    queue.push(1, "good")
    queue.push(2, "news")
    queue.queue.discard(2)
    assert (len(queue.queue), queue.queue.first[1]) == (1, 1)
    queue.queue.discard(7)  # is in the store only
    queue.queue.push(entry(2), 10)
    assert queue.pop() == 2
    queue.again(2)
    assert [queue.pop(), queue.pop()] == [2, 1]


def test_url_beyond_the_spill_limit_is_in_the_store_only():
    queue = Queue(most=4)
    for page in range(1, 10):
        queue.push(page)
    assert queue.queue.has_more
    assert len(queue.queue) == 6, "half as many more as are compared"
    queue.push(10, "news")
    assert len(queue.queue) == 6
    assert queue.learning.pop_features(10) is None, "its features are in the store"
    queue.push(0, "good")
    assert queue.pop() == 0, "it was found before"
    assert queue.all() == [1, 2, 3, 4, 5, 6, 10, 7, 8, 9], "the best one is compared when there is room for it"
    assert queue.store.refills


def test_more_than_ten_thousand_urls_wait():
    """At most twice as many are in memory as are compared, and a tenth of their entries."""
    queue = Queue(most=MOST_COMPARED)
    rows = np.stack([features("fair", number) for number in range(100)])
    pages = 2 * MOST_COMPARED + 500
    for page in range(1, pages + 1):
        queue.store.rows[page] = rows[page % 100]
        queue.again(page)
    assert MOST_COMPARED < len(queue.queue) <= 2 * MOST_COMPARED
    assert queue.queue.has_more
    assert len(queue.queue._entries) <= 2 * (value_queue.LOADED + MOST_COMPARED // 10)
    queue.store.rows[5_000] = queue.store.rows[pages - 1] = features("news")
    queue.queue.discard(5_000)
    queue.again(5_000)
    assert queue.pop() == 5_000
    assert [queue.pop() for _ in range(3)] == [1, 2, 3], "the last but one is not compared yet"


def test_entries_of_urls_that_come_next_are_read_together():
    queue = Queue()
    for page in range(1, 2_000):
        queue.push(page, "good" if page % 2 else "fair")
    queue.queue._entries.clear()
    for page in range(1, 2 * value_queue.LOADED, 2):
        assert queue.pop() == page
    assert queue.store.lookups == 1


words = st.sampled_from([*WORDS])
events = st.lists(
    st.one_of(
        st.tuples(st.just("push"), words),
        st.tuples(st.just("push"), words),
        st.tuples(st.just("lease"), st.sampled_from([0.0, 1.0, 30.0])),
        st.tuples(st.just("retry"), st.just(0)),
        st.tuples(st.just("kill"), st.just(0)),
    ),
    max_size=60,
)


@given(events, st.integers(1, 5))
def test_choices_depend_on_nothing_but_what_waits(events, most):
    """After a kill, as without: the queue is read from the store, and the same URLs are compared."""
    queue, plain = Queue(most), {}
    leased: list[int] = []
    number = 0
    for kind, value in events:
        if kind == "push":
            number += 1
            queue.push(number, value)
            plain[number] = queue.store.rows[number]
        elif kind == "lease" and plain:
            compared = sorted(plain)[:most]
            scores = queue.values.scores(np.stack([plain[page] for page in compared]))
            close = [page for page, score in zip(compared, scores, strict=True) if score > scores.max() - CLOSE]
            page = queue.pop()
            assert page == close[0]
            del plain[page]
            if value:
                queue.end(page, value)
            else:
                leased.append(page)
        elif kind == "retry" and leased:
            page = leased.pop()
            plain[page] = queue.store.rows[page]
            queue.again(page)
        elif kind == "kill":
            plain.update((page, queue.store.rows[page]) for page in leased)
            leased.clear()
            queue.held.clear()
            queue.learning = LinkLearning(queue.values, queue.store)
            queue.learning.compared = most
            queue.queue = value_queue.ValueQueue(1, 0, queue.learning, queue.store, queue.held, NONE)
            queue.queue.refill(most)
    assert sorted([*plain, *leased]) == sorted(queue.store.rows)
