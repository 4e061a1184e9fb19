"""Results are computed once, in the background, and kept until the memory for them is used up."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from crawlers.errors import StoreError
from crawlers.web.kept_results import ENTRY_BYTES, NICENESS, Kept, KeptResults, Unfinished
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
    assert isinstance(outcome, Kept)
    return outcome.value


def test_result_is_computed_once(slow):
    results, one = KeptResults(), slow()
    first = results.get("a", one, 0)
    assert isinstance(first, Unfinished)
    assert first.problem == ""
    assert results.get("a", one, 0) == first  # the same computation, for another reader
    one.may_end.set()
    assert value_of(results, "a", one) == "slow"
    assert results.get("a", one, 0).at >= first.at
    assert one.calls == 1


def test_readers_of_other_results_do_not_wait(slow):
    results, one = KeptResults(), slow()
    results.get("slow", one, 0)
    assert value_of(results, "quick", lambda: "quick") == "quick"


def test_no_more_are_computed_at_a_time_than_there_are_threads(slow):
    results, all_of_them = KeptResults(threads=2), [slow() for _ in range(3)]
    for key, one in enumerate(all_of_them):
        results.get(key, one, 0)
    first, second, third = all_of_them
    assert first.has_begun.wait(PATIENCE_S)
    assert second.has_begun.wait(PATIENCE_S)
    assert third.calls == 0
    third.may_end.set()
    second.may_end.set()
    assert value_of(results, 2, third) == "slow"


def test_computation_that_is_one_too_many_has_to_be_asked_for_again(slow):
    results, first = KeptResults(threads=1, most_waiting=1), slow()
    results.get("first", first, 0)
    assert first.has_begun.wait(PATIENCE_S)
    results.get("second", lambda: "second", 0)
    assert isinstance(results.get("third", lambda: "third", 0), Unfinished)
    first.may_end.set()
    assert value_of(results, "second", lambda: "of another call") == "second"
    assert value_of(results, "third", lambda: "third") == "third"


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_computations_leave_the_processor_to_crawls():
    before = os.getpriority(os.PRIO_PROCESS, 0)
    outcome = KeptResults(PATIENCE_S).get("key", lambda: os.getpriority(os.PRIO_PROCESS, 0))
    assert outcome.value == min(19, before + NICENESS)
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_failure_is_told_until_somebody_tries_again(caplog):
    results = KeptResults()

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
    results, computed = KeptResults(most_bytes=4000 + 2 * ENTRY_BYTES), []

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


def test_forgotten_result_is_computed_again():
    results = KeptResults()
    assert value_of(results, "a", lambda: "old") == "old"
    results.forget("a")
    results.forget("a")
    assert results.known("a") is None
    assert value_of(results, "a", lambda: "new") == "new"


def test_latest_result_is_computed_again_when_it_is_old(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("crawlers.web.kept_results.time.time", lambda: clock[0])
    monkeypatch.setattr("crawlers.web.kept_results.time.monotonic", lambda: clock[0])
    results, numbers = KeptResults(wait_s=PATIENCE_S), iter("123")

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


def test_readers_do_not_wait_for_a_latest_result_that_takes_long(slow):
    results, one = KeptResults(wait_s=0), slow()
    assert isinstance(results.get("a", one, share=1e-9), Unfinished)
    one.may_end.set()
    assert value_of(results, "a", one) == "slow"
    newer = slow()
    assert results.get("a", newer, share=float("inf")).value == "slow"
    assert newer.has_begun.wait(PATIENCE_S)
    assert results.get("a", newer, share=float("inf")).value == "slow"
    assert newer.calls == 1


@pytest.mark.parametrize(("seconds", "pause_s"), [(0.1, 10.0), (2.0, 60.0)])
def test_failure_is_not_repeated_without_a_pause(monkeypatch, seconds, pause_s):
    clock = [100.0]
    monkeypatch.setattr("crawlers.web.kept_results.time.time", lambda: clock[0])
    monkeypatch.setattr("crawlers.web.kept_results.time.monotonic", lambda: clock[0])
    results, problems = KeptResults(wait_s=PATIENCE_S), iter(("first", "second"))

    def fails():
        clock[0] += seconds
        raise StoreError(next(problems))

    assert results.get("a", fails, share=0.01).problem == "first"
    clock[0] += pause_s - 0.1
    assert results.get("a", fails, share=0.01).problem == "first"
    clock[0] += 0.2
    assert results.get("a", fails, share=0.01).problem == "second"
    clock[0] += pause_s + 0.1
    assert results.get("a", lambda: "fine", share=0.01).value == "fine"


def test_readers_beyond_a_number_do_not_wait(slow):
    """Each reader who waits holds one of the threads that answer requests."""
    results, one = KeptResults(most_readers=1), slow()
    first = threading.Thread(target=results.get, args=("a", one, PATIENCE_S))
    first.start()
    assert one.has_begun.wait(PATIENCE_S)
    end = threading.Timer(0.1, one.may_end.set)  # a reader who waits gets the result
    end.start()
    assert isinstance(results.get("a", one, PATIENCE_S), Unfinished)
    end.join()
    first.join()
    assert value_of(results, "b", lambda: "later") == "later"


def test_nobody_waits_for_what_has_no_turn(slow):
    results, one, other = KeptResults(threads=1, most_waiting=1), slow(), slow()
    results.get("a", one, 0)
    assert one.has_begun.wait(PATIENCE_S)
    results.get("b", other, 0)
    assert isinstance(results.get("c", other, PATIENCE_S), Unfinished)
