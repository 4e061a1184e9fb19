"""The single steps of the normal form: RCCrawler's examples, each step on and off."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import normalize, resolve

ALL_OFF = {name: False for name, field in Normalization.__dataclass_fields__.items() if field.type == "bool"} | {
    "ignored_parameters": ()
}

# step, URL, its form with the step alone
EXAMPLES = [
    ("lower_case_host", "HTTP://eXaMplE.com/", "http://example.com/"),
    ("drop_default_port", "https://example.com:443/q.html", "https://example.com/q.html"),
    ("drop_default_port", "http://example.com:80", "http://example.com/"),
    ("upper_case_escapes", "http://example.com/%3a%2B?%3a=%2b", "http://example.com/%3A%2B?%3A=%2B"),
    (
        "decode_unreserved",
        "http://example.com/%7Euser/%41%7a%2D%2e%5f%39%2F%20?%71=%3D%7E",
        "http://example.com/~user/Az-._9%2F%20?q=%3D~",
    ),
    ("add_trailing_slash", "http://example.com/folder", "http://example.com/folder/"),
    ("remove_dot_segments", "http://example.com/f1/../f2/./f3", "http://example.com/f2/f3"),
    ("remove_dot_segments", "http://example.com/f1/%2E%2e/../f2/..", "http://example.com/"),
    ("drop_fragment", "http://example.com/folder/#fragment", "http://example.com/folder/"),
    ("merge_slashes", "http://example.com/f1//f2///", "http://example.com/f1/f2/"),
    ("sort_parameters", "http://example.com/?b=1&a=3", "http://example.com/?a=3&b=1"),
    ("drop_empty_query", "http://example.com/?", "http://example.com/"),
    ("drop_empty_parameters", "http://example.com/?a&b=1&c=2&&d=&e==", "http://example.com/?a&b=1&c=2&e=="),
    ("drop_valueless_parameters", "http://example.com/?a&b=1&c=&d", "http://example.com/?b=1&c="),
]


@pytest.mark.parametrize(("step", "url", "form"), EXAMPLES)
def test_step_works_alone(step, url, form):
    assert normalize(url, Normalization(**(ALL_OFF | {step: True}))) == form


@pytest.mark.parametrize(("step", "url", "form"), EXAMPLES)
def test_step_switched_off_leaves_the_url(step, url, form):
    left = normalize(url, Normalization(**ALL_OFF))
    assert left != form
    assert left == (url if url.count("/") > 2 else f"{url}/")


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


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("http://H/Index.HTML?A=B", "http://h/index.html?a=b"),
        ("http://h/a/", "http://h/a"),
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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://h/spip.php?article8517", "http://h/spip.php?article8522"),
        ("http://h/index.html?java/util/Set.html", "http://h/index.html"),
        ("http://h/?a", "http://h/?a=1"),
        ("http://h/a%2Fb", "http://h/a/b"),
        ("http://h/a%3Fb", "http://h/a?b"),
        ("http://h/?a%26b=1", "http://h/?a&b=1"),
        ("http://h/%2541", "http://h/%41"),
        ("http://h/%%34%31", "http://h/A"),
    ],
)
def test_different_pages_have_different_keys(one, other):
    assert normalize(one) != normalize(other)


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("http://h/a%2Ehtml", "http://h/a.html"),
        ("http://h/a/%2e%2E/b/", "http://h/b/"),
        ("http://h/a/%2e%2e;jsession%69d=1/b/", "http://h/b/"),
        ("http://h/%d0%bf%D0%9f/", "http://h/%D0%BF%D0%9F/"),
        ("http://h/%%34%31", "http://h/%%341/"),
        ("http://h/%4%31", "http://h/%4%31/"),
        ("http://h/%a%%62", "http://h/%a%%62/"),
    ],
)
def test_escapes_have_one_form(url, form):
    assert normalize(url) == form
    assert normalize(form) == form


UNRESERVED = "ABCXYZabcxyz019-._~"
RESERVED = ":@!$&'()*+,;="


def _escape(text, rng):
    """Return *text* with some of its unreserved characters percent-encoded, in either case."""
    return "".join(
        f"%{ord(one):02{rng.choice('xX')}}" if one in UNRESERVED and rng.random() < 0.5 else one for one in text
    )


@given(
    st.lists(st.text(UNRESERVED + RESERVED + "é ", max_size=6), max_size=4),
    st.lists(st.text(UNRESERVED + "é:/", min_size=1, max_size=6), max_size=4),
    st.randoms(use_true_random=False),
)
def test_escapes_of_unreserved_characters_and_the_order_of_parameters_are_irrelevant(path, query, rng):
    url = f"http://h/{'/'.join(path)}?{'&'.join(query)}"
    rng.shuffle(query)
    variant = f"http://h/{_escape('/'.join(path), rng)}?{_escape('&'.join(query), rng)}"
    assert normalize(variant) == normalize(url)
    assert normalize(normalize(variant)) == normalize(url)


@given(st.text("%47aAfFg.;=&", max_size=12))
def test_incomplete_escapes_never_become_complete(text):
    for url in (f"http://h/{text}", f"http://h/?{text}"):
        once = normalize(url)
        assert normalize(once) == once


def test_requested_url_keeps_its_escapes():
    target = resolve("http://h/", "/%7Euser/a%2Fb?%61")
    assert target.url == "http://h/%7Euser/a%2Fb?%61"
    assert target.normalized == "http://h/~user/a%2Fb/?a"
