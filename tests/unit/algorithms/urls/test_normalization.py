"""The single steps of the normal form: RCCrawler's examples, each step on and off."""

from __future__ import annotations

import pytest

from crawlers.algorithms.urls.resolution import Normalization, normalize, resolve

ALL_OFF = {name: False for name, field in Normalization.__dataclass_fields__.items() if field.default is True} | {
    "ignored_parameters": ()
}

# step, URL, its form with the step alone
EXAMPLES = [
    ("lower_case_host", "HTTP://eXaMplE.com/", "http://example.com/"),
    ("drop_default_port", "https://example.com:443/q.html", "https://example.com/q.html"),
    ("drop_default_port", "http://example.com:80", "http://example.com/"),
    ("upper_case_escapes", "http://example.com/%3a%2B?%3a=%2b", "http://example.com/%3A%2B?%3A=%2B"),
    ("add_trailing_slash", "http://example.com/folder", "http://example.com/folder/"),
    ("remove_dot_segments", "http://example.com/f1/../f2/./f3", "http://example.com/f2/f3"),
    ("remove_dot_segments", "http://example.com/f1/%2E%2e/../f2/..", "http://example.com/"),
    ("drop_fragment", "http://example.com/folder/#fragment", "http://example.com/folder/"),
    ("merge_slashes", "http://example.com/f1//f2///", "http://example.com/f1/f2/"),
    ("sort_parameters", "http://example.com/?b=1&a=3", "http://example.com/?a=3&b=1"),
    ("drop_empty_query", "http://example.com/?", "http://example.com/"),
    ("drop_empty_parameters", "http://example.com/?a&b=1&c=2&&d=", "http://example.com/?b=1&c=2"),
]


def test_every_step_has_an_example():
    assert {step for step, _, _ in EXAMPLES} == {name for name, value in ALL_OFF.items() if value is False}


@pytest.mark.parametrize(("step", "url", "form"), EXAMPLES)
def test_step_works_alone(step, url, form):
    assert normalize(url, Normalization(**(ALL_OFF | {step: True}))) == form


@pytest.mark.parametrize(("step", "url", "form"), EXAMPLES)
def test_step_switched_off_leaves_the_url(step, url, form):
    left = normalize(url, Normalization(**ALL_OFF))
    assert left != form
    assert left == (url if url.count("/") > 2 else f"{url}/")


@pytest.mark.parametrize("path", ["f.html", "f/", "", "a.b/", "a.b"])
def test_slash_is_added_to_folders_only(path):
    assert normalize(f"http://h/{path}") == f"http://h/{path}"


def test_known_ip_address_is_replaced_by_its_name():
    options = Normalization(ip_names={"208.76.188.166": "Example.com", "[::1]": "six.example"})
    assert normalize("https://208.76.188.166", options) == "https://example.com/"
    assert normalize("http://u@208.76.188.166:81/", options) == "http://u@example.com:81/"
    assert normalize("http://[0:0::1]:81/", options) == "http://six.example:81/"
    assert normalize("http://1.2.3.4/", options) == "http://1.2.3.4/"
    assert resolve("http://208.76.188.166/", "/x", options).site == "http://example.com"


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("http://h/?utm_source=a&UTM_Medium=b&id=1&fbclid=c", "http://h/?id=1"),
        ("http://h/?PHPSESSID=1", "http://h/"),
        ("http://h/a.do;jsessionid=1A?x=1", "http://h/a.do?x=1"),
        ("http://h/a;JSESSIONID=1/b;v=2;jsessionid=1", "http://h/a/b;v=2/"),
        ("http://h/a/..;jsessionid=1/b/", "http://h/b/"),
        ("http://h/?sid=12", "http://h/?sid=12"),
        ("http://h/?sid=d41d8cd98f00b204e9800998ecf8427e", "http://h/"),
        ("http://h/?utm=1", "http://h/?utm=1"),
    ],
)
def test_well_known_parameters_of_visits_are_ignored(url, form):
    assert normalize(url) == form


def test_names_of_ignored_parameters_may_begin_or_end_with_a_star():
    options = Normalization(ignored_parameters=("*_ref", "x*"))
    assert normalize("http://h/?my_ref=1&xyz=2&ref=3&X=4", options) == "http://h/?ref=3"


def test_options_can_be_compared_and_hashed():
    assert Normalization(ip_names={"1.2.3.4": "a"}) == Normalization(ip_names={"1.2.3.4": "a"})
    assert hash(Normalization()) == hash(Normalization())
    assert Normalization(merge_slashes=False) != Normalization()


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("http://H/Index.HTML?A=B", "http://h/index.html?a=b"),
        ("http://h/a/", "http://h/a"),
        ("http://h/a", "http://h/a"),
        ("http://h", "http://h/"),
        ("http://h/a/?q=/", "http://h/a?q=/"),
        ("http://h/%D0%9F", "http://h/%d0%9f"),
    ],
)
def test_beebot_folds_case_and_the_final_slash(url, form):
    options = Normalization(lower_case=True, drop_final_slash=True)
    assert normalize(url, options) == form
    assert normalize(form, options) == form
    assert resolve(url, "", options).site == "http://h"
