"""A lease ends once, when everything that the callback yielded has been handled."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import Response
from twisted.python.failure import Failure

from crawlers.extensions.pending_callbacks import PendingCallbacks
from crawlers.items import Page, State
from crawlers.schedulers.foreign_queue import WatchedErrback

URL = "http://a.example/"


class Work:
    """A callback at work, and the pages whose leases ended."""

    def __init__(self):
        self.ended = []
        self.callbacks = PendingCallbacks(self.ended.append)
        self.page = Page(1, URL, 0, State.DONE, 200)
        self.response = Response(URL)

    def begin(self):
        self.callbacks.begin(self.response, self.page)
        return self


@pytest.fixture
def work():
    return Work().begin()


def test_yielded_page_ends_the_lease_itself(work):
    work.callbacks.record_output(work.response, Page(1, URL, 0, State.DONE))
    work.callbacks.record_end(work.response)
    work.callbacks.item_handled(work.response)
    assert work.ended == []
    assert 1 not in work.callbacks


def test_page_of_a_failing_callback_fails_when_the_rest_is_handled(work):
    request = Request(URL)
    work.callbacks.record_output(work.response, request)
    assert work.callbacks.record_failure(work.response, "why")
    assert work.ended == []
    work.callbacks.record_request(request)
    assert [(page.state, page.reason) for page in work.ended] == [(State.FAILED, "why")]
    assert not work.callbacks.record_failure(work.response, "again")
    assert not work.callbacks.record_failure(None, "an error of start()")


@given(st.lists(st.sampled_from(["request", "item", "none"]), max_size=8), st.randoms(use_true_random=False))
def test_lease_ends_exactly_once_in_any_order(outputs, rng):
    work = Work().begin()
    steps = [lambda: work.callbacks.record_end(work.response)]
    for kind in outputs:
        output = {"request": Request(URL), "item": {}, "none": None}[kind]
        work.callbacks.record_output(work.response, output)
        if kind == "request":
            steps.append(lambda output=output: work.callbacks.record_request(output))
        elif kind == "item":
            steps.append(lambda: work.callbacks.item_handled(work.response))
    rng.shuffle(steps)
    for step in steps:
        assert work.ended == []
        step()
    assert work.ended == [work.page]


# Errbacks


def call(errback, work):
    """What Scrapy does with the errback of a failed download, and the outputs."""
    watched = WatchedErrback(errback, work.callbacks, lambda failure: work.page)
    failure = Failure(ValueError("broken"))
    outputs = []

    async def run():
        output = watched(failure)
        if asyncio.iscoroutine(output):
            output = await output
        if isinstance(output, Failure):
            return output
        async for one in output:
            assert work.ended == []
            outputs.append(one)
        return None

    return asyncio.run(run()), outputs


async def coroutine(failure):
    return [{"a": 1}]


async def generator_async(failure):
    yield {"a": 1}


def generator(failure):
    yield {"a": 1}


@pytest.mark.parametrize(
    "errback", [coroutine, generator_async, generator, lambda failure: {"a": 1}, lambda failure: [{"a": 1}]]
)
def test_outputs_of_errbacks_of_all_kinds_are_waited_for(errback):
    work = Work()
    _, outputs = call(errback, work)
    assert outputs == [{"a": 1}]
    assert work.ended == []  # the item is still on its way
    assert 1 in work.callbacks


@pytest.mark.parametrize("errback", [None, lambda failure: failure])
def test_failure_that_nobody_handles_goes_on_and_ends_the_lease(errback):
    work = Work()
    failure, outputs = call(errback, work)
    assert isinstance(failure, Failure)
    assert (outputs, work.ended) == ([], [work.page])


def test_errback_that_returns_nothing_ends_the_lease():
    work = Work()
    assert call(lambda failure: None, work) == (None, [])
    assert work.ended == [work.page]


def raising(failure):
    raise RuntimeError("the errback")


async def raising_async(failure):
    raise RuntimeError("the errback")


@pytest.mark.parametrize("errback", [raising, raising_async])
def test_errback_that_raises_ends_the_lease(errback):
    work = Work()
    with pytest.raises(RuntimeError, match="the errback"):
        call(errback, work)
    assert work.ended == [work.page]


@pytest.mark.parametrize("errback", [None, lambda failure: "its own"])
def test_errback_of_an_answer_in_work_is_left_alone(work, errback):
    failure = Failure(ValueError("HttpError"))
    output = WatchedErrback(errback, work.callbacks, lambda failure: work.page)(failure)
    assert output is failure or output == "its own"
    assert work.ended == []


def test_request_that_is_yielded_twice_is_waited_for_twice(work):
    request = Request(URL)
    for _ in range(2):
        work.callbacks.record_output(work.response, request)
    work.callbacks.record_end(work.response)
    work.callbacks.record_request(request)
    assert work.ended == []
    work.callbacks.record_request(request)
    assert work.ended == [work.page]
