"""Redirects and their targets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import REDIRECT_STATUSES, redirect_of

URL = "http://a.example/dir/page"


def redirect(status, location, url=URL):
    return redirect_of(url, status, location, Normalization())


@pytest.mark.parametrize("status", [200, 204, 300, 304, 305, 306, 309, 404, 500])
def test_other_statuses_are_not_redirects_even_with_a_location(status):
    assert redirect(status, b"/x") is None


@pytest.mark.parametrize("status", sorted(REDIRECT_STATUSES))
@pytest.mark.parametrize("location", [None, b""])
def test_redirect_without_location_has_no_target(status, location):
    assert redirect(status, location) == (None, f"redirect_without_location {status}")


def test_locations_are_read_as_the_url_standard_says():
    assert redirect(302, b"/x^y?^").target.url == "http://a.example/x%5Ey?^"
    assert redirect(302, "//FA\u1e9e.de/".encode()).target.url == "http://xn--fa-hia.de/"


@pytest.mark.parametrize("location", [b"//a^b/", b"http://xn--0.pt/", b"http://fa\xdf.de/"])
def test_location_without_a_valid_host_is_a_problem_with_its_reason(location):
    assert redirect(302, location) == (None, "redirect_to_bad_url not_a_url")


@given(location=st.binary(max_size=40))
def test_any_location_gives_a_target_or_a_problem(location):
    found = redirect(302, location)
    assert (found.target is None) == bool(found.problem)
