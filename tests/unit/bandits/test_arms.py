"""A line: the foremost is first whatever changed, and what was left takes no room."""

from hypothesis import given
from hypothesis import strategies as st

from crawlers.bandits.arms import SLACK, IndexedHeap

changes = st.lists(st.tuples(st.integers(0, 6), st.none() | st.integers(-3, 3)), max_size=60)


@given(changes)
def test_first_item_has_the_least_priority_and_then_the_least_number(changes):
    line = IndexedHeap()
    places = {}
    for number, place in changes:
        if place is None:
            line.remove(number)
            places.pop(number, None)
        else:
            line.put(number, (place,))
            places[number] = place
        assert line.first() == min(places, key=lambda n: (places[n], n), default=None)
        assert len(line) == len(places)


def test_heap_stays_small_when_priorities_change_often():
    line = IndexedHeap()
    line.put(0, (0.0,))
    for step in range(10_000):
        line.put(1, (1.0 + step,))
        line.remove(1)
    assert len(line._heap) <= 2 * 2 + SLACK + 1
