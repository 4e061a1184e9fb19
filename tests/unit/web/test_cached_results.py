"""Results are computed once, in the background, and kept until the memory for them is used up."""

import threading

import pytest

from crawlers.errors import StoreError
from crawlers.web.cached_results import ENTRY_BYTES, CachedResults
from tests.support.processes import PATIENCE_S


class Slow:
    """A computation that ends when it is told to."""

    def __init__(self):
        self.has_begun, self.may_end, self.calls = threading.Event(), threading.Event(), 0

    def __call__(self):
        self.calls += 1
        self.has_begun.set()
        assert self.may_end.wait(PATIENCE_S)
        return "slow"


@pytest.fixture
def slow():
    """Return a function that makes slow computations; all of them end with the test."""
    made = []

    def make():
        made.append(Slow())
        return made[-1]

    yield make
    for one in made:
        one.may_end.set()


def value_of(results, key, compute):
    outcome = results.get(key, compute, PATIENCE_S)
    assert not outcome.is_missing
    return outcome.value


def test_result_is_computed_once(slow):
    results, one = CachedResults(), slow()
    first = results.get("a", one, 0)
    assert (first.is_missing, first.problem) == (True, "")
    assert results.get("a", one, 0) == first  # the same computation, for another reader
    one.may_end.set()
    assert value_of(results, "a", one) == "slow"
    assert results.get("a", one, 0).at >= first.at
    assert one.calls == 1


def test_result_of_what_changed_during_its_computation_is_not_kept(slow):
    results, one = CachedResults(), slow()
    results.get("a", one, 0)
    results.forget("a")  # as when a site is added while the list of sites is read
    one.may_end.set()
    assert results.get("a", one, PATIENCE_S).is_missing
    assert value_of(results, "a", lambda: "new") == "new"


def test_failure_is_told_until_somebody_tries_again(caplog):
    results = CachedResults()

    def fails():
        raise StoreError("the disk is full")

    def breaks():
        raise ZeroDivisionError

    assert results.get("a", fails, PATIENCE_S).problem == "the disk is full"
    assert results.get("a", lambda: "fine", PATIENCE_S).problem == "the disk is full"
    assert results.known("a") is None
    results.forget("a")
    assert value_of(results, "a", lambda: "fine") == "fine"
    assert "details are in the log" in results.get("b", breaks, PATIENCE_S).problem
    assert "ZeroDivisionError" in caplog.text


def test_results_that_were_used_last_are_kept():
    results, computed = CachedResults(most_bytes=4000 + 2 * ENTRY_BYTES), []

    def use(key, size=1500):
        assert value_of(results, key, lambda: computed.append(key) or "x" * size) == "x" * size

    for key in "aba":
        use(key)
    assert computed == ["a", "b"]
    use("c")  # b is dropped
    use("a")
    assert computed == ["a", "b", "c"]
    use("b")
    assert computed == ["a", "b", "c", "b"]
    use("large", 9 * ENTRY_BYTES)  # one is kept, however large it is
    assert results.known("large") is not None
    assert results.known("a") is None


def test_latest_result_is_computed_again_when_it_is_old(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("crawlers.web.cached_results.time.time", lambda: clock[0])
    monkeypatch.setattr("crawlers.web.cached_results.time.monotonic", lambda: clock[0])
    results, numbers = CachedResults(wait_s=PATIENCE_S), iter("123")

    def compute():
        clock[0] += 1  # it takes a second
        return next(numbers)

    def latest():
        return results.get("a", compute, share=0.1).value

    assert latest() == latest() == "1"
    clock[0] += 9.5
    assert latest() == "1"
    clock[0] += 0.5
    assert latest() == "2"


def test_nobody_waits_for_what_has_no_turn(slow):
    results, one, other = CachedResults(threads=1, most_jobs=2), slow(), slow()
    results.get("a", one, 0)
    assert one.has_begun.wait(PATIENCE_S)
    results.get("b", other, 0)
    assert results.get("c", other, PATIENCE_S).is_missing
