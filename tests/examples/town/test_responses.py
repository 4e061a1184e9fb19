"""The town responds by previous requests: pages change, come and go, and have validators."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.town.plan import SITES, plan
from examples.town.responses import respond, town

WEB = town()
PATHS = [page.path for page in plan(1).pages[::20]] + ["/offer.html", "/spring.html", "/robots.txt", "/no"]
PATHS += [f"/story-{number}.html" for number in ("0", "7", "8", "07", "-1", "99999999999", "٣")]


class Visitor:
    """Requests pages of the town, and counts the requests."""

    def __init__(self):
        self.counts = Counter()

    def get(self, site, path, **headers):
        found = respond(WEB, site, path, self.counts, {key.replace("_", "-"): value for key, value in headers.items()})
        self.counts[site, path] += 1
        return found

    def status(self, site, path):
        return self.get(site, path).status


@settings(derandomize=True, deadline=None, database=None)
@given(st.sampled_from(list(SITES)), st.sampled_from(PATHS) | st.text().map("/".__add__), st.integers(0, 99))
def test_response_depends_only_on_the_previous_requests(site, path, before):
    requests = {(site, "/"): before, ("news", "/"): before}
    response = respond(WEB, site, path, requests)
    assert response.status in (200, 404)
    assert respond(WEB, site, path, requests) == response


@pytest.mark.parametrize("site", SITES)
def test_every_page_of_the_plan_always_exists(site):
    requests = Counter({(name, "/"): 1000 for name in SITES})
    for page in plan(1).pages:
        if page.site == site:
            assert respond(WEB, site, page.path, requests).status == 200


@pytest.mark.parametrize("site", SITES)
def test_unchanged_page_with_a_validator_is_not_sent_again(site):
    name, condition = {"etag": ("ETag", "If_None_Match"), "date": ("Last-Modified", "If_Modified_Since"), "": ("", "")}[
        SITES[site].validator
    ]
    visitor = Visitor()
    first = visitor.get(site, "/")
    assert {key for key, _ in first.headers} == {"Content-Type", name} - {""}
    if name:
        again = visitor.get(site, "/", **{condition: first.header(name)})
        assert (again.status, again.body, again.header(name)) == (304, b"", first.header(name))
        assert visitor.get(site, "/", **{condition: "another"}).status == 200
