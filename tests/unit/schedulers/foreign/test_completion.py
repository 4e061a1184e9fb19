"""A lease ends once, and only when everything that the spider made of the answer is taken care of."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import Response
from twisted.python.failure import Failure

from crawlers.items import Page, State
from crawlers.schedulers.foreign.completion import AnswersInWork, WatchedErrback

URL = "http://a.example/"


class Desk:
    """Answers in work, and the pages whose leases ended."""

    def __init__(self):
        self.ended = []
        self.answers = AnswersInWork(self.ended.append)
        self.page = Page(1, URL, 0, State.DONE, 200)
        self.response = Response(URL)

    def begin(self):
        self.answers.begin(self.response, self.page)
        return self


@pytest.fixture
def desk():
    return Desk().begin()


def test_answer_that_gives_nothing_ends_when_it_is_read(desk):
    assert 1 in desk.answers
    desk.answers.came(desk.response, None)
    desk.answers.read(desk.response)
    assert desk.ended == [desk.page]
    assert 1 not in desk.answers


def test_answer_ends_only_when_its_requests_are_scheduled(desk):
    requests = [Request(URL), Request(URL)]
    for request in requests:
        desk.answers.came(desk.response, request)
    desk.answers.scheduled(requests[1])
    desk.answers.read(desk.response)
    assert desk.ended == []
    desk.answers.scheduled(Request(URL))  # somebody else's
    assert desk.ended == []
    desk.answers.scheduled(requests[0])
    desk.answers.scheduled(requests[0])
    assert desk.ended == [desk.page]


def test_answer_ends_only_when_its_items_have_passed_the_pipelines(desk):
    desk.answers.came(desk.response, {"an": "item"})
    desk.answers.read(desk.response)
    desk.answers.item_done(None)  # an item of start()
    desk.answers.item_done(Response(URL))
    assert desk.ended == []
    desk.answers.item_done(desk.response)
    assert desk.ended == [desk.page]


def test_page_that_the_spider_yields_itself_is_its_own_end(desk):
    desk.answers.came(desk.response, Page(1, URL, 0, State.DONE))
    desk.answers.read(desk.response)
    desk.answers.item_done(desk.response)
    assert desk.ended == []
    assert 1 not in desk.answers


def test_failing_spider_makes_the_page_fail_when_the_rest_is_taken_care_of(desk):
    request = Request(URL)
    desk.answers.came(desk.response, request)
    assert desk.answers.failed(desk.response, "why")
    assert desk.ended == []
    desk.answers.scheduled(request)
    assert [(page.state, page.reason) for page in desk.ended] == [(State.FAILED, "why")]
    assert not desk.answers.failed(desk.response, "again")
    assert not desk.answers.failed(None, "an error of start()")


@given(st.lists(st.sampled_from(["request", "item", "none"]), max_size=8), st.randoms(use_true_random=False))
def test_answer_ends_exactly_once_whatever_the_order(outputs, rng):
    desk = Desk().begin()
    steps = [lambda: desk.answers.read(desk.response)]
    for kind in outputs:
        output = {"request": Request(URL), "item": {}, "none": None}[kind]
        desk.answers.came(desk.response, output)
        if kind == "request":
            steps.append(lambda output=output: desk.answers.scheduled(output))
        elif kind == "item":
            steps.append(lambda: desk.answers.item_done(desk.response))
    rng.shuffle(steps)
    for step in steps:
        assert desk.ended == []
        step()
    assert desk.ended == [desk.page]


# Errbacks


def call(errback, desk, *, answers=None):
    """What Scrapy does with the errback of a failed download, and the outputs."""
    watched = WatchedErrback(errback, desk.answers, lambda failure: desk.page)
    failure = Failure(ValueError("broken"))
    outputs = []

    async def run():
        output = watched(failure)
        if asyncio.iscoroutine(output):
            output = await output
        if isinstance(output, Failure):
            return output
        async for one in output:
            assert desk.ended == []
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
    desk = Desk()
    _, outputs = call(errback, desk)
    assert outputs == [{"a": 1}]
    assert desk.ended == []  # the item is still on its way
    assert 1 in desk.answers


@pytest.mark.parametrize("errback", [None, lambda failure: failure])
def test_failure_that_nobody_handles_goes_on_and_ends_the_lease(errback):
    desk = Desk()
    failure, outputs = call(errback, desk)
    assert isinstance(failure, Failure)
    assert (outputs, desk.ended) == ([], [desk.page])


def test_errback_that_returns_nothing_ends_the_lease():
    desk = Desk()
    assert call(lambda failure: None, desk) == (None, [])
    assert desk.ended == [desk.page]


def raising(failure):
    raise RuntimeError("the errback")


async def raising_async(failure):
    raise RuntimeError("the errback")


@pytest.mark.parametrize("errback", [raising, raising_async])
def test_errback_that_raises_ends_the_lease(errback):
    desk = Desk()
    with pytest.raises(RuntimeError, match="the errback"):
        call(errback, desk)
    assert desk.ended == [desk.page]


@pytest.mark.parametrize("errback", [None, lambda failure: "its own"])
def test_errback_of_an_answer_in_work_is_left_alone(desk, errback):
    failure = Failure(ValueError("HttpError"))
    output = WatchedErrback(errback, desk.answers, lambda failure: desk.page)(failure)
    assert output is failure or output == "its own"
    assert desk.ended == []
