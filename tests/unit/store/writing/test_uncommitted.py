"""Submitted values are found until queries see them."""

from crawlers.store.writing.uncommitted import Uncommitted


class Commits:
    """A writer that commits only when a caller waits."""

    def __init__(self):
        self.submitted = self.committed = self.waits = 0

    def wait_for(self, number):
        self.waits += number > self.committed
        self.committed = max(self.committed, number)


def test_forgotten_entries_are_committed():
    commits = Commits()
    recent = Uncommitted(commits, 3)
    for number in range(20):
        recent.make_room()
        recent.update({number: number})
        assert all(recent.get(one) is not None for one in range(commits.committed, number + 1))
        commits.submitted += 1
        assert all(recent.get(one) == one for one in range(max(0, number - 2), number + 1))
    assert recent.get(0) is None
    assert recent.forgotten == 5
    assert len(recent.young) + len(recent.old) <= 6


def test_later_value_replaces_an_earlier_one():
    recent = Uncommitted(None, 2)
    for key, value in (("a", 1), ("b", 2), ("a", 3)):
        recent.make_room()
        recent.update({key: value})
    assert (recent.young, recent.old) == ({"a": 3}, {"a": 1, "b": 2})
    assert recent.get("a") == 3


def test_make_room_waits_only_for_uncommitted_entries_that_are_forgotten():
    commits = Commits()
    recent = Uncommitted(commits, 2)
    for number in range(4):
        recent.make_room()
        recent.update({number: number})
        commits.submitted += 1
    assert (commits.waits, recent.forgotten) == (0, 0)
    recent.make_room()
    assert (commits.waits, commits.committed, recent.forgotten) == (1, 2, 1)
    recent.update({4: 4, 5: 5})
    commits.submitted = commits.committed = 6
    recent.make_room()
    assert (commits.waits, recent.forgotten) == (1, 2)
