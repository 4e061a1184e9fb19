"""What is never asked for, by its URL alone."""

import pytest

from crawlers.crawl.control import ForwardClock
from crawlers.store.sites.site_opening import SiteRow, StoredSelection
from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import resolve
from crawlers.urls.url_expressions import UrlSelection
from crawlers.urls.url_filter import UrlFilter

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
