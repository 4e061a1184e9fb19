"""A queue by what was learnt of links, alone or with scores, chooses alike, whichever URLs are in memory."""

import json
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlers.frontier import value_queue
from crawlers.frontier.value_queue import LinkLearning
from crawlers.frontier.values import ALL, NONE
from crawlers.items import LinkPlace
from crawlers.ranking.link_features import link_features, prior_of
from crawlers.ranking.link_values import CLOSE, MOST_COMPARED, NO_FEATURES, LinkValues, text_of
from tests.contracts.fading import Near
from tests.support.frontier_scores import entry

SITE = "http://a.test"
WORDS = {"old": -4.0, "poor": -2.0, "fair": 0.0, "good": 2.0, "news": 4.0}  # with weights that are far from each other
READ = 10**6  # the number of a page that was read, from which links raise scores


def features(word, number=0):
    return np.array(link_features(SITE, f"{SITE}/{word}/{number}", 1, 1, LinkPlace("ul/li", "ul/li", "")), np.uint32)


class WaitingRows:
    """A frontier store in memory: the waiting pages with their features, None for a home page."""

    among, database = "", SimpleNamespace(name="the store")

    def __init__(self):
        self.rows = {}
        self.lookups = 0
        self.refills = 0

    def waiting(self, site_id, after, limit):
        self.refills += 1
        return [entry(page) for page in sorted(self.rows) if (0.0, page) > after][:limit]

    def best(self, site_id, queue, after, limit):
        self.refills += 1
        ordered = sorted((-self.scores.score(page), page) for page in self.rows)
        behind = [one for one in ordered if one > after]
        return [entry(page)._replace(priority=priority) for priority, page in behind[:limit]]

    def entries(self, page_ids, others=()):
        self.lookups += 1
        return [entry(page) for page in (*page_ids, *others)]

    def read(self, statement, ids):
        return [(page, text_of(row)) for page in json.loads(ids) if (row := self.rows[page]) is not None]


class Queue:
    """A queue of links with words, with the actions of the frontier; *most* URLs are compared."""

    def __init__(self, most=10_000, words=WORDS):
        self.most = most
        self.limit = 3  # of a refill
        self.store = WaitingRows()
        self.held = set()
        self.values = self.make_values(words)
        self.open(ALL)

    def make_values(self, words):
        return LinkValues(prior_of({"url": words}))

    def open(self, spill_limit):
        self.learning = LinkLearning(self.values, self.store, self.values.page_scores and self.store)
        self.learning.compared = self.most
        self.queue = value_queue.ValueQueue(1, 0, self.learning, self.store, self.held, spill_limit)

    def kill(self):
        """Read the queue from the store."""
        self.held.clear()
        self.open(NONE)

    def refill(self):
        while self.queue.needs_refill:
            self.queue.refill(self.limit)

    def push(self, page, word="fair"):
        self.store.rows[page] = None if word is None else features(word)
        self.again(page)

    def again(self, page):
        """Push a page that waits again, e.g. after a failure."""
        self.held.discard(page)
        if (row := self.store.rows[page]) is not None:
            self.learning.features[page] = row
        self.queue.push(entry(page), self.most)

    def pop(self):
        self.refill()
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

    def next(self):
        """The page that comes next, by the definition."""
        compared = sorted(page for page in self.store.rows if page not in self.held)[: self.most]
        scores = self.values.scores(np.stack([self.store.rows[page] for page in compared]))
        return next(page for page, score in zip(compared, scores, strict=True) if score > scores.max() - CLOSE)


class Added:
    """What is learnt of links, added to the scores of their pages."""

    close = 0.0

    def __init__(self, scores):
        self.page_scores = scores
        self._values = LinkValues()

    def learn(self, features, reward):
        if features:
            self._values.learn(features, reward)

    def compared(self, pages, features):
        return self.page_scores.scores(pages) + np.minimum(1.0, self._values.values(features))


class ScoredQueue(Queue):
    """A queue by the scores of pages as well."""

    def make_values(self, words):
        self.scores = self.store.scores = Near()
        return Added(self.scores)

    def push(self, page, word="fair"):
        self.scores.add_waiting(page, 1)
        super().push(page, word)

    def raise_to(self, page, worth):
        """Let a page that was read have a link to *page*."""
        self.scores.add_waiting(READ, 0)
        self.scores.fetched(READ, {page: worth})
        if page not in self.held:
            self.queue.raise_page(page, self.most)

    def end(self, page, reward=0.0):
        super().end(page, reward)
        self.scores.remove_page(page)

    def next(self):
        """The page that comes next, by the definition."""
        compared = sorted((-self.scores.score(page), page) for page in self.store.rows if page not in self.held)
        pages = [page for _, page in compared[: self.most]]
        rows = [row if (row := self.store.rows[page]) is not None else NO_FEATURES for page in pages]
        values = self.values.compared(np.array(pages), np.stack(rows)).tolist()
        return min((-value, page) for value, page in zip(values, pages, strict=True))[1]


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
    assert [queue.pop() for _ in range(3)] == [2, 4, 1]


def test_url_beyond_the_spill_limit_is_in_the_store_only():
    queue = Queue(most=4)
    for page in range(1, 10):
        queue.push(page)
    assert queue.queue.has_more
    assert len(queue.queue) == 6, "half as many more as are compared"
    queue.push(10, "news")
    assert len(queue.queue) == 6
    assert 10 not in queue.learning.features, "its features are in the store"
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


def test_first_is_computed_again_only_if_something_was_learnt_or_queued(monkeypatch):
    queue = ScoredQueue()
    queue.push(1, "news")
    queue.push(2, "old")
    computed = []
    values = queue.values.compared
    monkeypatch.setattr(queue.values, "compared", lambda *args: computed.append(1) or values(*args))
    for _ in range(3):
        assert queue.queue.first[1] == 1
    assert len(computed) == 1
    queue.learning.learn_reward(99, 0.5)
    assert queue.queue.first[1] == 1
    queue.push(3, "news")
    assert queue.queue.first[1] == 1
    assert len(computed) == 3


def test_memory_of_scored_urls_is_bounded():
    queue = ScoredQueue(most=20)
    for page in range(1, 2_000):
        queue.push(page, "news" if page % 3 else "fair")
    assert len(queue.queue) <= 40
    assert len(queue.queue._entries) <= 2 * (value_queue.LOADED + 2)
    assert not queue.learning.features
    for _ in range(30):
        queue.end(queue.pop())
    assert len(queue.queue._popped) == 1


def test_page_that_has_ended_is_not_read_again_before_the_store_knows_it():
    queue = Queue(most=4)
    queue.limit = 5
    for page in range(8, 14):
        queue.push(page, "news" if page == 10 else "fair")
    assert queue.pop() == 10
    row = queue.store.rows[10]
    for page in range(1, 8):
        queue.push(page)
    found = []
    while not queue.queue.needs_refill:
        found.append(queue.pop())
    queue.end(10)
    queue.store.rows[10] = row
    queue.refill()
    del queue.store.rows[10]  # the next refill waits for what was submitted before it
    assert found + queue.all() == [*range(1, 10), *range(11, 14)]


words = st.sampled_from([*WORDS])
again = [st.tuples(st.just("retry"), st.none()), st.tuples(st.just("kill"), st.none())]
events = st.lists(
    st.one_of(
        st.tuples(st.just("push"), words),
        st.tuples(st.just("push"), words),
        st.tuples(st.just("lease"), st.sampled_from([None, 1.0, 30.0])),
        *again,
    ),
    max_size=60,
)
SCORED_WORDS = ("old", "fair", "news")
scored_events = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.sampled_from([*SCORED_WORDS, None])),
        st.tuples(st.just("push"), st.sampled_from(SCORED_WORDS)),
        st.tuples(st.just("lease"), st.sampled_from([None, 0.0, 0.1, 0.9])),
        st.tuples(st.just("rise"), st.tuples(st.integers(0, 100), st.sampled_from([0.1, 0.5]))),
        st.tuples(st.just("discard"), st.integers(0, 100)),
        *again,
    ),
    max_size=60,
)
HISTORIES = st.one_of(st.tuples(st.just(Queue), events), st.tuples(st.just(ScoredQueue), scored_events))


@given(HISTORIES, st.integers(1, 5))
def test_choices_depend_on_nothing_but_what_waits(history, most):
    """After a kill, as without: the queue is read from the store, and the same URLs are compared."""
    kind_of_queue, events = history
    queue = kind_of_queue(most)
    leased = []
    number = 0
    for kind, value in events:
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
            queue.kill()
    waiting = [page for page in queue.store.rows if page not in queue.held]
    assert sorted(queue.pop() for _ in waiting) == waiting
    assert queue.queue.is_empty
