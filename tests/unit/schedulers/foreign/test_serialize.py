"""Requests are written as JSON and recreated; others stay in memory, and are reported if they are lost."""

import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider

from crawlers.errors import BadUrl
from crawlers.schedulers.foreign_queue import RequestKeeper, target_of_request
from crawlers.urls.normalization import Normalization

URL = "http://a.example/x"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


class OneSpider(Spider):
    name = "one"

    def parse_it(self, response):
        pass

    def failed(self, failure):
        pass


SPIDER = OneSpider()


FIELDS = {
    "body": st.binary(max_size=30),
    "headers": st.dictionaries(
        st.sampled_from(["X-A", "X-B", "Accept"]), st.binary(max_size=8).filter(lambda b: b.strip() == b)
    ),
    "meta": st.dictionaries(st.text(max_size=5), JSON, max_size=3),
    "cb_kwargs": st.dictionaries(st.text(max_size=5), JSON, max_size=3),
    "method": st.sampled_from(["GET", "POST", "PUT"]),
    "priority": st.integers(-100, 100),
    "dont_filter": st.booleans(),
}


@given(st.fixed_dictionaries(FIELDS))
def test_request_is_recreated_unchanged(fields):
    request = Request(URL, SPIDER.parse_it, errback=SPIDER.failed, cookies={"a": "b"}, flags=["x"], **fields)
    keeper = RequestKeeper(SPIDER)
    text = keeper.write(request)
    assert "kept" not in json.loads(text)
    assert keeper.read(text).to_dict(spider=SPIDER) == request.to_dict(spider=SPIDER)


def test_class_of_a_request_is_recreated():
    keeper = RequestKeeper(SPIDER)
    found = keeper.read(keeper.write(FormRequest(URL, formdata={"a": "ü"})))
    assert type(found) is FormRequest
    assert (found.method, found.body) == ("POST", b"a=%C3%BC")


@pytest.mark.parametrize(
    "odd",
    [
        {"meta": {"x": object()}},
        {"meta": {"x": b"bytes"}},
        {"meta": {"x": (1, 2)}},
        {"meta": {1: "a key that is no text"}},
        {"cb_kwargs": {"x": {1, 2}}},
        {"callback": lambda response: None},
    ],
)
def test_request_that_is_not_json_is_kept_unchanged(odd):
    keeper = RequestKeeper(SPIDER)
    request = Request(URL, **odd)
    text = keeper.write(request)
    assert keeper.read(text) is request
    with pytest.raises(LookupError, match="request_lost"):
        keeper.read(text)


def test_only_the_first_request_that_is_not_json_is_logged(caplog):
    keeper = RequestKeeper(SPIDER)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            keeper.read(keeper.write(Request(URL, meta={"x": object()})))
    assert len(caplog.records) == 1
    assert "Further occurrences are not logged" in caplog.text


@pytest.mark.parametrize(
    "change", [{"callback": "gone"}, {"_class": "no.such.Request"}, {"_class": "json.loads"}, {"priority": "high"}]
)
def test_request_of_a_changed_spider_has_a_reason(change):
    keeper = RequestKeeper(SPIDER)
    fields = {**json.loads(keeper.write(Request(URL, callback=SPIDER.parse_it))), **change}
    with pytest.raises(LookupError, match="request_outdated "):
        keeper.read(json.dumps(fields))


# The identity of a request


def key(*arguments, unique="", **more):
    return target_of_request(Request(*arguments, **more), Normalization(), unique=unique).key


def test_requests_are_equal_by_normal_form_method_and_body():
    assert key(URL) == key("HTTP://A.example:80/./x#part") == key(URL, headers={"X": "1"}, meta={"a": 1})
    others = [{}, {"method": "POST"}, {"method": "POST", "body": "a"}, {"body": "a"}, {"url": f"{URL}?y=1"}]
    assert len({key(**{"url": URL, **other}) for other in others}) == len(others)


def test_invalid_url_is_refused():
    with pytest.raises(BadUrl):
        key("ftp://a.example/x")
