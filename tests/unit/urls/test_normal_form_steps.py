"""The steps that changed a URL: in order, and the last one has the normal form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.errors import BadUrl
from crawlers.urls.normal_form_steps import STANDARD, FormStep, form_steps
from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import normalize

DEFAULT = Normalization()


@pytest.mark.parametrize(
    ("url", "options", "steps"),
    [
        ("http://a.test/x/?a=1", DEFAULT, []),
        ("http://a.test/x", DEFAULT, [("add_trailing_slash", "http://a.test/x/")]),
        (
            "HTTP://A.test:80/%7eb//c?utm_source=1&q=",
            DEFAULT,
            [
                ("lower_case_host", "http://a.test:80/%7eb//c?utm_source=1&q="),
                ("drop_default_port", "http://a.test/%7eb//c?utm_source=1&q="),
                ("upper_case_escapes", "http://a.test/%7Eb//c?utm_source=1&q="),
                ("decode_unreserved", "http://a.test/~b//c?utm_source=1&q="),
                ("add_trailing_slash", "http://a.test/~b//c/?utm_source=1&q="),
                ("merge_slashes", "http://a.test/~b/c/?utm_source=1&q="),
                ("sort_parameters", "http://a.test/~b/c/?q=&utm_source=1"),
                ("drop_empty_parameters", "http://a.test/~b/c/?utm_source=1"),
                ("ignored_parameters", "http://a.test/~b/c/"),
            ],
        ),
        ("http://a.test/ü.html", DEFAULT, [(STANDARD, "http://a.test/%C3%BC.html")]),
        (
            "http://[::1]/x.html",
            Normalization(ip_names={"[::1]": "a.test"}),
            [("ip_names", "http://a.test/x.html")],
        ),
        ("http://a.test/x", Normalization(drop_final_slash=True), []),  # added and dropped again
    ],
)
def test_steps_are_those_that_changed_the_url(url, options, steps):
    assert form_steps(url, options) == [FormStep(*step) for step in steps]


@given(
    st.text(alphabet="aB/.%7e?&=;#:ü0 ", max_size=30),
    st.fixed_dictionaries({name: st.booleans() for name in ("merge_slashes", "add_trailing_slash", "lower_case")}),
)
def test_last_step_has_the_normal_form(rest, switched):
    url, options = f"http://a.test/{rest}", Normalization(**switched)
    form = normalize(url, options)
    steps = form_steps(url, options)
    assert (steps[-1].url if steps else url) == form
    assert len({step.name for step in steps}) == len(steps)


def test_text_that_is_not_a_url_of_the_web_is_refused():
    with pytest.raises(BadUrl, match="scheme mailto"):
        form_steps("mailto:a@b.test", DEFAULT)
