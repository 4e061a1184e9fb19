"""A bounded queue keeps the nearest URLs in memory; the others stay behind the spill limit."""

from hypothesis import given
from hypothesis import strategies as st

from crawlers.frontier.queues.heap_queue import HeapQueue
from crawlers.frontier.values import QueueEntry


class Stored:
    """A frontier store that holds *entries*."""

    def __init__(self, entries):
        self._entries = sorted(entries)

    def flush(self): ...

    def waiting(self, site_id, after, limit):
        return [e for e in self._entries if (e.priority, e.id) > after][:limit]


def entry(priority, page_id):
    return QueueEntry(priority, page_id, page_id, f"http://a.test/{page_id}", 0, 0, 0, None)


def queue_of(entries, held=(), **more):
    return HeapQueue(1, 0, Stored(entries), held, **more)  # type: ignore[arg-type]


@given(st.lists(st.floats(0, 9), max_size=60), st.integers(1, 5), st.integers(1, 5))
def test_everything_comes_out_in_order_and_the_heap_stays_small(priorities, most, limit):
    entries = [entry(priority, number) for number, priority in enumerate(priorities, 1)]
    queue = queue_of(entries)
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
