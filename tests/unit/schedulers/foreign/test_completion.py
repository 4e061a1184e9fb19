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
from crawlers.schedulers.foreign.completion import PendingCallbacks, WatchedErrback

URL = "http://a.example/"


class Desk:
    """Answers in work, and the pages whose leases ended."""

    def __init__(self):
        self.ended = []
        self.answers = PendingCallbacks(self.ended.append)
        self.page = Page(1, URL, 0, State.DONE, 200)
        self.response = Response(URL)

    def begin(self):
        self.answers.begin(self.response, self.page)
        return self


@pytest.fixture
def policy():
    return Desk().begin()


def test_answer_that_gives_nothing_ends_when_it_is_read(policy):
    assert 1 in policy.answers
    policy.answers.came(policy.response, None)
    policy.answers.read(policy.response)
    assert policy.ended == [policy.page]
    assert 1 not in policy.answers


def test_answer_ends_only_when_its_requests_are_scheduled(policy):
    requests = [Request(URL), Request(URL)]
    for request in requests:
        policy.answers.came(policy.response, request)
    policy.answers.scheduled(requests[1])
    policy.answers.read(policy.response)
    assert policy.ended == []
    policy.answers.scheduled(Request(URL))  # somebody else's
    assert policy.ended == []
    policy.answers.scheduled(requests[0])
    policy.answers.scheduled(requests[0])
    assert policy.ended == [policy.page]


def test_answer_ends_only_when_its_items_have_passed_the_pipelines(policy):
    policy.answers.came(policy.response, {"an": "item"})
    policy.answers.read(policy.response)
    policy.answers.item_done(None)  # an item of start()
    policy.answers.item_done(Response(URL))
    assert policy.ended == []
    policy.answers.item_done(policy.response)
    assert policy.ended == [policy.page]


def test_page_that_the_spider_yields_itself_is_its_own_end(policy):
    policy.answers.came(policy.response, Page(1, URL, 0, State.DONE))
    policy.answers.read(policy.response)
    policy.answers.item_done(policy.response)
    assert policy.ended == []
    assert 1 not in policy.answers


def test_failing_spider_makes_the_page_fail_when_the_rest_is_taken_care_of(policy):
    request = Request(URL)
    policy.answers.came(policy.response, request)
    assert policy.answers.failed(policy.response, "why")
    assert policy.ended == []
    policy.answers.scheduled(request)
    assert [(page.state, page.reason) for page in policy.ended] == [(State.FAILED, "why")]
    assert not policy.answers.failed(policy.response, "again")
    assert not policy.answers.failed(None, "an error of start()")


@given(st.lists(st.sampled_from(["request", "item", "none"]), max_size=8), st.randoms(use_true_random=False))
def test_answer_ends_exactly_once_whatever_the_order(outputs, rng):
    policy = Desk().begin()
    steps = [lambda: policy.answers.read(policy.response)]
    for kind in outputs:
        output = {"request": Request(URL), "item": {}, "none": None}[kind]
        policy.answers.came(policy.response, output)
        if kind == "request":
            steps.append(lambda output=output: policy.answers.scheduled(output))
        elif kind == "item":
            steps.append(lambda: policy.answers.item_done(policy.response))
    rng.shuffle(steps)
    for step in steps:
        assert policy.ended == []
        step()
    assert policy.ended == [policy.page]


# Errbacks


def call(errback, policy, *, answers=None):
    """What Scrapy does with the errback of a failed download, and the outputs."""
    watched = WatchedErrback(errback, policy.answers, lambda failure: policy.page)
    failure = Failure(ValueError("broken"))
    outputs = []

    async def run():
        output = watched(failure)
        if asyncio.iscoroutine(output):
            output = await output
        if isinstance(output, Failure):
            return output
        async for one in output:
            assert policy.ended == []
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
    policy = Desk()
    _, outputs = call(errback, policy)
    assert outputs == [{"a": 1}]
    assert policy.ended == []  # the item is still on its way
    assert 1 in policy.answers


@pytest.mark.parametrize("errback", [None, lambda failure: failure])
def test_failure_that_nobody_handles_goes_on_and_ends_the_lease(errback):
    policy = Desk()
    failure, outputs = call(errback, policy)
    assert isinstance(failure, Failure)
    assert (outputs, policy.ended) == ([], [policy.page])


def test_errback_that_returns_nothing_ends_the_lease():
    policy = Desk()
    assert call(lambda failure: None, policy) == (None, [])
    assert policy.ended == [policy.page]


def raising(failure):
    raise RuntimeError("the errback")


async def raising_async(failure):
    raise RuntimeError("the errback")


@pytest.mark.parametrize("errback", [raising, raising_async])
def test_errback_that_raises_ends_the_lease(errback):
    policy = Desk()
    with pytest.raises(RuntimeError, match="the errback"):
        call(errback, policy)
    assert policy.ended == [policy.page]


@pytest.mark.parametrize("errback", [None, lambda failure: "its own"])
def test_errback_of_an_answer_in_work_is_left_alone(policy, errback):
    failure = Failure(ValueError("HttpError"))
    output = WatchedErrback(errback, policy.answers, lambda failure: policy.page)(failure)
    assert output is failure or output == "its own"
    assert policy.ended == []
