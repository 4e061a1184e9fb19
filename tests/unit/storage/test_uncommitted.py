"""What was submitted to the writer is found until queries see it."""

from __future__ import annotations

from crawlers.storage.uncommitted import Uncommitted


class Commits:
    """A writer that commits only what it is waited for."""

    def __init__(self) -> None:
        self.submitted = self.committed = self.waits = 0

    def wait_for(self, number: int) -> None:
        self.waits += number > self.committed
        self.committed = max(self.committed, number)


def test_what_is_forgotten_was_committed():
    commits = Commits()
    lately: Uncommitted[int, int] = Uncommitted(commits, 3)
    for number in range(20):
        lately.make_room()
        lately.update({number: number})
        assert all(lately.get(one) is not None for one in range(commits.committed, number + 1))
        commits.submitted += 1
        assert all(lately.get(one) == one for one in range(max(0, number - 2), number + 1))
    assert lately.get(0) is None
    assert lately.forgotten == 5
    assert len(lately.young) + len(lately.old) <= 6


def test_later_value_goes_before_an_earlier_one():
    lately: Uncommitted[str, int] = Uncommitted(None, 2)
    for key, value in (("a", 1), ("b", 2), ("a", 3)):
        lately.make_room()
        lately.update({key: value})
    assert (lately.young, lately.old) == ({"a": 3}, {"a": 1, "b": 2})
    assert lately.get("a") == 3


def test_nothing_is_waited_for_when_nothing_is_forgotten_or_all_is_committed():
    commits = Commits()
    lately: Uncommitted[int, int] = Uncommitted(commits, 2)
    for number in range(4):
        lately.make_room()
        lately.update({number: number})
        commits.submitted += 1
    assert (commits.waits, lately.forgotten) == (0, 0)
    lately.make_room()
    assert (commits.waits, commits.committed, lately.forgotten) == (1, 2, 1)
    lately.update({4: 4, 5: 5})
    commits.submitted = commits.committed = 6
    lately.make_room()
    assert (commits.waits, lately.forgotten) == (1, 2)


def test_entries_that_share_a_value_are_counted():
    lately: Uncommitted[str, set[int]] = Uncommitted(None, 4)
    for numbers in ({1, 2, 3}, {4, 5, 6}, {7}):
        lately.make_room()
        lately.young.setdefault("site", set()).update(numbers)
        lately.count(len(numbers))
    assert (lately.young, lately.old) == ({"site": {7}}, {"site": {1, 2, 3, 4, 5, 6}})
