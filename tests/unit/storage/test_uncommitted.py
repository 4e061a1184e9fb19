"""What was handed to the writer is found until the store has it."""

from __future__ import annotations

from crawlers.storage.uncommitted import Uncommitted


def test_what_is_forgotten_was_committed():
    made, committed = [], []
    lately: Uncommitted[int, int] = Uncommitted(lambda: committed.extend(made), 3)
    for number in range(20):
        lately[number] = number
        forgotten = [one for one in made if lately.get(one) is None]
        assert set(forgotten) <= set(committed)
        made.append(number)
        assert all(lately.get(one) == one for one in made[-3:])
    assert lately.get(0) is None
    assert len(lately.young) + len(lately.old) <= 6


def test_later_value_goes_before_an_earlier_one():
    lately: Uncommitted[str, int] = Uncommitted(lambda: None, 2)
    lately["a"] = 1
    lately["b"] = 2
    lately["a"] = 3
    assert (lately.young, lately.old) == ({"a": 3}, {"a": 1, "b": 2})
    assert lately.get("a") == 3


def test_nothing_is_waited_for_when_nothing_is_forgotten():
    flushes = []
    lately: Uncommitted[int, int] = Uncommitted(lambda: flushes.append(1), 2)
    for number in range(4):
        lately[number] = number
    assert flushes == []
    lately[4] = 4
    assert flushes == [1]


def test_entries_that_share_a_value_are_counted():
    lately: Uncommitted[str, set[int]] = Uncommitted(lambda: None, 4)
    for numbers in ({1, 2, 3}, {4, 5, 6}, {7}):
        lately.make_room()
        lately.young.setdefault("site", set()).update(numbers)
        lately.count(len(numbers))
    assert (lately.young, lately.old) == ({"site": {7}}, {"site": {1, 2, 3, 4, 5, 6}})
