"""The list of sites in the browser: searched, changed, imported, exported and deleted from."""

import re

import pytest
from sqlalchemy import update

from crawlers.store.schema.tables import site
from crawlers.store.sites.seeds import list_seeds, save_seeds
from tests.support.stored_crawl import HOSTILE
from tests.support.stored_rows import execute

A = "http://a.test"


@pytest.fixture
def listed(sqlite, crawl_id):
    """The number of a site of a crawl."""
    save_seeds(sqlite, [{"site": A, "short_name": "A", "parallel": 2, "enabled": True}])
    return next(seed.number for seed in list_seeds(sqlite) if seed.site == A)


def seed(database, number):
    return next((one for one in list_seeds(database) if one.number == number), None)


def test_list_is_searched_filtered_and_sorted(browser, listed, sqlite):
    assert f'href="/sites/{listed}">{A}/</a>' in browser.get("/sites?text=A.TEST&state=enabled&sort=-pages").text
    text = browser.get("/sites?text=nothing").text
    assert re.search(r'No site meets these conditions\.</p><p><a class="button" href="/sites">Show all', text)
    assert 'aria-sort="descending"' in browser.get("/sites?sort=-pages").text
    assert browser.get("/sites?page=-1&state=y").status_code == 200
    assert browser.get("/sites?sort=x").status_code == 400


def test_list_is_kept_until_the_panel_changes_it_or_is_asked_to_read_it_again(browser, sqlite):
    save_seeds(sqlite, [{"site": f"http://{number}.test"} for number in range(2000)])
    assert "<small>2,000</small>" in browser.get("/sites").text
    save_seeds(sqlite, [{"site": A}])
    assert "<small>2,000</small>" in browser.get("/sites").text
    assert browser.get("/sites?sort=pages&again=1").headers["location"] == "/sites?sort=pages"
    assert "<small>2,001</small>" in browser.get("/sites").text
    browser.post("/sites", "/sites", url="b.test")
    assert "<small>2,002</small>" in browser.get("/sites").text


def test_site_is_added(browser, sqlite):
    response = browser.post("/sites", "/sites", url="Example.org/ru/", delay_ms="500", parallel="")
    assert response.headers["location"] == "/sites/1"
    [added] = list_seeds(sqlite)
    assert (added.site, added.start_url) == ("http://example.org", "http://example.org/ru/")
    assert (added.delay_s, added.parallel, added.enabled) == (0.5, None, True)


@pytest.mark.parametrize(
    ("form", "errors"),
    [
        ({"url": "ftp://x.test"}, {"url": "unsupported protocol 'ftp'; expected http or https"}),
        ({"url": "http//x.test"}, {"url": "http is not a host; write http://host"}),
        ({"url": HOSTILE}, {"url": "invalid host name or port; write host or host:port"}),
        ({"url": "x.test", "parallel": "0"}, {"parallel": "parallel is '0', expected a whole number from 1 to 1000"}),
        ({"url": "x..test", "delay_ms": "x"}, {"url": "two dots in a row", "delay_ms": "delay_ms is 'x'"}),
        ({"url": "x.test", "short_name": "a"}, {"short_name": "have the same short name"}),
    ],
)
def test_what_is_wrong_with_a_new_site_stands_at_its_fields(browser, listed, sqlite, form, errors):
    before = list_seeds(sqlite)
    response = browser.post("/sites", "/sites", **form)
    text = response.text.replace("&#39;", "'")
    assert (response.status_code, HOSTILE in text) == (422, False)
    assert re.findall(r'href="#site-(\w+)"', text) == list(errors)
    assert re.findall(r'id="site-(\w+)"[^>]* autofocus', text) == [next(iter(errors))]
    for name, message in errors.items():
        assert message in text.partition(f'<span class="wrong" id="wrong-{name}">')[2].partition("</span>")[0]
        assert re.search(f'id="site-{name}"[^>]* aria-invalid="true" aria-describedby="wrong-{name}"', text)
    assert list_seeds(sqlite) == before


def test_list_is_exported_and_imported_again(browser, sqlite):
    save_seeds(sqlite, [{"site": A, "name": "=1+1", "delay_s": 0.5}, {"site": "http://b.test", "enabled": False}])
    response = browser.get("/sites.csv")
    assert response.headers["content-disposition"] == 'attachment; filename="sites.csv"'
    assert response.text.startswith("number,full_name,short_name,start_url")
    before = list_seeds(sqlite)
    response = browser.upload("/sites/import", {"file": ("sites.csv", response.content)}, "/sites")
    assert response.headers["location"] == "/sites?added=0&changed=0"
    assert list_seeds(sqlite) == before
    assert "2 changed." in browser.get("/sites?added=0&changed=2").text


@pytest.mark.parametrize(("content", "message"), [(b"\xff", "is not UTF-8 text"), (b"ftp://x.test", "unsupported")])
def test_faulty_file_changes_nothing(browser, sqlite, content, message):
    response = browser.upload("/sites/import", {"file": ("x.txt", content)}, "/sites")
    assert (response.status_code, message in response.text) == (422, True)
    assert re.search(r'id="site-text"[^>]* aria-invalid="true" aria-describedby="wrong-text" autofocus', response.text)
    assert list_seeds(sqlite) == []


def test_site_is_shown_with_what_its_latest_crawl_found_out(browser, listed, sqlite):
    values = {"availability": "timeout", "robots_status": 200, "robots_text": f"# {HOSTILE}", "robots_at": 1e9}
    execute(sqlite, update(site).where(site.c.site == A).values(**values))
    text = browser.get(f"/sites/{listed}").text
    assert "not reachable: timeout" in text
    assert re.search(r"<dt>Pages</dt><dd><a [^>]+>4</a></dd>", text)
    assert "# &lt;script&gt;alert(1)&lt;/script&gt;</pre>" in text
    assert HOSTILE not in text


def test_limits_are_edited_and_emptied(browser, listed, sqlite):
    path = f"/sites/{listed}"
    form = {"url": f"{A}/start", "full_name": "Full", "short_name": "", "parallel": "", "max_level": "4"}
    assert browser.post(path, path, **form, delay_ms="250").headers["location"] == path
    after = seed(sqlite, listed)
    assert (after.start_url, after.name, after.short_name) == (f"{A}/start", "Full", None)
    assert (after.parallel, after.max_level, after.delay_s, after.enabled) == (None, 4, 0.25, True)


@pytest.mark.parametrize(
    ("form", "message"),
    [({"url": "http://other.test"}, "http://other.test is another site"), ({"url": A, "delay_ms": "x"}, "delay_ms is")],
)
def test_wrong_edit_changes_nothing(browser, listed, sqlite, form, message):
    before = seed(sqlite, listed)
    response = browser.post(f"/sites/{listed}", "/sites", **form)
    assert (response.status_code, message in response.text) == (422, True)
    assert seed(sqlite, listed) == before


def test_site_is_disabled_and_enabled(browser, listed, sqlite):
    for action, is_enabled in (("disable", False), ("enable", True)):
        browser.post(f"/sites/{listed}/{action}", "/sites")
        assert seed(sqlite, listed).enabled is is_enabled
    assert browser.post(f"/sites/{listed}/explode", "/sites").status_code == 404


def test_site_is_deleted_after_its_rows_were_counted(browser, listed, sqlite):
    path = f"/sites/{listed}/delete"
    assert "in 1 crawls: 12 pages, 8 links between them, 4 external links" in browser.get(path).text
    assert seed(sqlite, listed) is not None
    other = browser.post(path, path, site="http://b.test")  # of a form that was left open
    assert (other.status_code, "is that of another site now" in other.text) == (409, True)
    assert seed(sqlite, listed) is not None
    shown = browser.post(path, path, site="http://a.test").headers["location"]
    said = "http://a.test was deleted with all that was stored of it: 12 pages, 8 links between them and 4 external"
    assert said in browser.get(shown).text
    assert "was deleted" not in browser.get("/sites?deleted=x&pages=many").text
    assert "100,000+ pages" in browser.get(shown.replace("pages=12", "pages=100000")).text
    assert seed(sqlite, listed) is None
    assert browser.get(f"/sites/{listed}").status_code == 404


def test_site_of_a_running_crawl_is_not_deleted(browser, running_id, listed, sqlite):
    path = f"/sites/{listed}/delete"
    text = browser.get(path).text
    assert "pause is not enough" in text
    assert "Delete for good" not in text
    response = browser.post(path, "/sites", site="http://a.test")
    assert (response.status_code, "is running; stop it first" in response.text) == (409, True)
    assert seed(sqlite, listed) is not None
