"""The scope limits the sites of a crawl.

The selection of URLs by expressions of RE2.
"""

from __future__ import annotations

import pytest

from crawlers.crawl.control import ForwardClock
from crawlers.errors import ConfigError
from crawlers.store.sites.site_opening import SiteRow, StoredSelection
from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import resolve
from crawlers.urls.scope import SITES_CACHED, Scope
from crawlers.urls.url_expressions import UrlSelection
from crawlers.urls.url_filter import UrlFilter

LISTED = ["http://listed.test", "https://www.listed.test:8443"]


@pytest.mark.parametrize("scope", ["sites", " Sites ", "SITES"])
def test_scope_of_the_list_holds_only_the_listed_sites(scope):
    found = Scope(scope, LISTED)
    assert not found.is_open
    others = ["https://listed.test", "http://listed.test:81", "https://www.listed.test", "http://other.test"]
    assert list(filter(found.holds, LISTED + others)) == LISTED


def test_domain_holds_itself_and_its_subdomains_for_any_scheme_and_port():
    found = Scope(" Example.org., b.test", LISTED)
    assert found.is_open
    within = ["http://example.org", "https://a.b.example.org:8443", "http://b.test", *LISTED]
    others = ["http://notexample.org", "http://example.org.evil.test", "http://org", "http://a.listed.test"]
    for _ in range(2):  # the second time from the cache
        assert list(filter(found.holds, within + others)) == within


def test_ip_addresses_are_separate_domains():
    found = Scope("127.0.0.1", [])
    assert found.holds("http://127.0.0.1:8600")
    assert not found.holds("http://1.127.0.0.2")


@pytest.mark.parametrize("scope", ["", "a b", "http://example.org", "example.org,", "-a.test", "*.example.org", "a/b"])
def test_invalid_domain_is_reported(scope):
    with pytest.raises(ConfigError, match="is not a domain; give sites"):
        Scope(scope, LISTED)


def test_number_of_cached_verdicts_is_bounded(monkeypatch):
    assert SITES_CACHED > 10_000
    monkeypatch.setattr("crawlers.urls.scope.SITES_CACHED", 3)
    found = Scope("example.org", [])
    for _ in range(2):
        assert [found.holds(f"http://{n}.example.org") for n in range(9)] == [True] * 9
        assert not found.holds("http://example.com")
    assert len(found._known) == 3


@pytest.mark.parametrize("scope", ["all", "a.example"])
def test_excluded_site_is_outside_every_scope(scope):
    made = Scope(scope, ["http://a.example"])
    assert made.holds("http://sport.a.example")
    made = made.excluding(["http://sport.a.example"])
    hosts = ("a.example", "sport.a.example", "x.a.example")
    assert [made.holds(f"http://{host}") for host in hosts] == [True, False, True]


def test_scope_of_hosts_accepts_any_host_name():
    scope = Scope.of_hosts(["my_paper.example", "all", "::1"], ["http://a.example"])
    hosts = ("my_paper.example", "www.my_paper.example", "all", "[::1]:9", "a.example", "b.example")
    assert [host for host in hosts if not scope.holds(f"http://{host}")] == ["b.example"]


@pytest.mark.parametrize(
    ("include", "exclude", "url", "reason"),
    [
        ([], [], "http://a/x", None),
        (["/x"], [], "http://a/b/x1/", None),
        (["/x$"], [], "http://a/x/", "not_included"),
        (["^https://"], [], "http://a/https://", "not_included"),
        ([], ["[?&]sort="], "http://a/?a=1&sort=2", "excluded [?&]sort="),
        (["/x"], ["/x"], "http://a/x", "excluded /x"),
        ([], ["б"], "http://a/%D0%B1", None),
    ],
)
def test_url_is_selected_by_the_expressions_found_in_it(include, exclude, url, reason):
    assert UrlSelection(include, exclude).reason_against(url) == reason


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("/a(", "RE2 cannot parse it: missing )"),
        ("/(?!b)", "RE2 does not support lookaheads and lookbehinds; write it without them"),
        ("x{1001}", "a repetition count is invalid or above 1,000"),
    ],
)
def test_invalid_expression_is_reported_with_its_setting(expression, problem):
    with pytest.raises(ConfigError) as caught:
        UrlSelection(["/fine/"], [expression])
    assert str(caught.value).startswith(f"URL_EXCLUDE: {expression!r}: {problem}")
    with pytest.raises(ConfigError, match=r"^URL_INCLUDE: "):
        UrlSelection([expression])


def test_lookahead_of_an_include_belongs_into_url_exclude():
    with pytest.raises(ConfigError, match="lookbehinds; write what they exclude into URL_EXCLUDE"):
        UrlSelection(["/(?!b)"])


def test_expressions_that_are_too_large_are_reported():
    with pytest.raises(ConfigError, match="are too large"):
        UrlSelection([r"\pL{1,1000}" * 9])


def test_reason_is_short_however_long_the_expression_is():
    reason = UrlSelection([], ["x" * 5000 + "|b"]).reason_against("http://b/")
    assert reason is not None
    assert len(reason) < 300


GROWN = "/" + "a/b/" * 13


def reason(path, *arguments, **more):
    return UrlFilter(*arguments, **more).reason_against(resolve("http://a.example/", path))


def test_extension_is_a_reason_whatever_its_case_and_query():
    for path in ("/x.pdf", "/x.PDF", "/x.html.pdf", "/x.pdf?page=1", "/.pdf", "/d.html/x.pdf#y"):
        assert reason(path, ["pdf"]) == "extension pdf", path
    for path in ("/", "/x", "/x.html", "/pdf", "/x.pdf/", "/x.pdf.html", "/x?file=y.pdf", "/x.", "/x.pdfx"):
        assert reason(path, ["pdf"]) is None, path


def test_shapes_of_traps_are_a_reason_unless_switched_off():
    assert reason(GROWN) is not None
    assert reason(GROWN, traps=False) is None


def test_clock_never_goes_back(monkeypatch):
    clock = ForwardClock()
    first = clock()
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert clock() >= first > 1_600_000_000


FOLDERS = {"http://a.example": "/Docs/"}


def test_urls_in_the_folder_are_selected_and_others_are_not():
    for path in ("/Docs/", "/Docs", "/Docs?x=1", "/Docs/a", "/Docs/a/b.html", "/Docs//", "/x/../Docs/y"):
        assert reason(path, folders=FOLDERS) is None, path
    for path in ("/", "/docs/", "/Docsx/", "/Docs.html", "/Docs/../x/", "/x/Docs/", "/?Docs/"):
        assert reason(path, folders=FOLDERS) == "outside_folder /Docs/", path


@pytest.mark.parametrize("options", [{"drop_final_slash": True}, {"lower_case": True}, {"add_trailing_slash": False}])
def test_folder_is_compared_in_the_normal_form(options):
    steps = Normalization(**options)
    within = UrlFilter(folders=FOLDERS, options=steps)
    for path in ("/Docs", "/Docs/", "/Docs/x", "/Docs/x.html"):
        assert within.reason_against(resolve("http://a.example/", path, steps)) is None
    assert within.reason_against(resolve("http://a.example/", "/Docs2", steps)) is not None
    assert within.reason_against(resolve("http://b.example/", "/x", steps)) is None  # another site


def test_start_page_is_selected_whatever_folder_and_patterns_say():
    start, page = (resolve("http://a.example/", path) for path in ("/start/", "/page/"))
    chosen = UrlFilter(["pdf"], folders=FOLDERS, selection=UrlSelection(["/news/"]))
    chosen.select(start)
    assert chosen.reason_against(start) is None
    assert chosen.reason_against(page) is not None


def test_stored_page_of_a_former_address_is_not_selected():
    selection = UrlSelection(exclude=["/x/"])
    stored = StoredSelection(UrlFilter(selection=selection).reason_against, selection, Normalization())
    row = SiteRow(1, "http://a.example", 1, None, 0.0, aliases=("https://a.example",))
    pages = {("https://a.example/y", 1): None, ("https://a.example/x", 0): None}
    pages[("https://a.example/x", 1)] = "excluded /x/"
    pages[("http://b.example/", 0)] = "other_address http://b.example http://a.example"
    assert {page: stored.reason_against(row, *page) for page in pages} == pages
    one_address = SiteRow(1, "http://a.example", 1, None, 0.0)
    everything = StoredSelection(UrlFilter().reason_against, None, Normalization())
    assert everything.fingerprint(one_address) == ""
    texts = {everything.fingerprint(row), stored.fingerprint(row), stored.fingerprint(one_address)}
    texts.add(everything.fingerprint(SiteRow(1, "http://a.example", 1, None, 0.0, folder="/a/")))
    assert len(texts) == 4
