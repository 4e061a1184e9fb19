"""What the issue of the panel asks of its care, and the test of each item.

* Text of strangers is never markup (stored XSS): titles, anchors, URLs, robots.txt, log lines, error reasons, texts of
  documents, names of crawls and sites, filters that are echoed, data of scripts.
* Nor does it control terminals, or turn the direction of what is written behind it.
* Pages of the crawled web are never rendered: the pages of the panel have no frames, no pictures of strangers, no
  scripts and styles within them, and a Content-Security-Policy that allows none.
* Formulas in CSV files are neutralised: here in all files of the panel; of the crawl's files in
  tests/unit/storage/files and tests/unit/graphs/writers, of its logs in test_csv_logs.
* Paths of others are not read (path traversal): exports, static files, logs, names of crawls.
* Only our own pages change anything (CSRF), only ours load parts of the panel, and none show it in a frame.
* Foreign Host headers (DNS rebinding), foreign Origins: tests/unit/web/test_guard.py.
* An address that others reach needs a password (test_guard.py), of which few can be tried.
* Secrets in database URLs are never shown.
* Nobody is led to another site (open redirects).
* Odd and huge parameters are errors in words, never a failure; slow clients keep no transaction open.
"""

import csv
import io
import itertools
import json
import re
from contextlib import closing
from shutil import copy
from urllib.parse import quote, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawlers.errors import ConfigError, StoreError
from crawlers.files.csv_tables import FORMULA_STARTS
from crawlers.reports.catalogue.registry import REPORTS
from crawlers.store.database import Database, shown_url
from crawlers.web import guard
from crawlers.web.guard import Attempts
from crawlers.web.pages import crawl_pages
from crawlers.web.pages.picture_pages import PICTURES
from crawlers.web.pages.report_pages import all_rows
from crawlers.web.serving import ROUTES
from crawlers.web.starting import RECORD, Job, JobRecord
from tests.support.hostile_store import ATTACK, hostile_store
from tests.support.of_missions import needs
from tests.support.report_rows import NO_FILTERS, report_rows
from tests.support.stored_crawl import stored_crawl
from tests.unit.web.conftest import Started, change_crawl, panel_of

VALUES = {
    "crawl": ["1"],
    "number": ["1", "20"],
    "report": list(REPORTS),
    "picture": list(PICTURES),
    "rows": ["pages", "links"],
    "format": ["csv", "jsonl", "gexf", "graphml", "svg"],
}
QUERIES = {
    "/crawls/{crawl:int}/explain": "?url=",
    "/crawls/{crawl:int}/explain/links": "?after=1_1_0_0_0&url=",
    "/crawls/{crawl:int}/rules": "?regex=",
    "/crawls/{crawl:int}/file": "?name=",
}
SHOWN_FILTERS = ("text", "site", "host", "reason", "anchor")
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
PASSWORD = "a long password"
FORMULAS = tuple(set(FORMULA_STARTS) - {"'"})  # that one marks a text

SECRET = "s3cret"
ENDED = [Job(ATTACK, "", 4e9, 2, ATTACK), Job(ATTACK, "", 4e9, None, ATTACK)]


@pytest.fixture
def hostile(browser, sqlite, starter, tmp_path):
    """A browser with a panel whose store, logs and processes are hostile."""
    hostile_store(sqlite)
    starter.ended = ENDED
    return browser


@pytest.fixture(scope="module")
def responses(empty_store, tmp_path_factory):
    """All responses of such a panel, by their addresses; the URL of its store has a password."""
    folder = tmp_path_factory.mktemp("hostile")
    with closing(Database(f"sqlite:///{copy(empty_store, folder / 'crawl.sqlite')}")) as database:
        hostile_store(database)
        database.url = database.url.update_query_dict({"password": SECRET})
        assert SECRET not in shown_url(database.url)
        browser = panel_of(database, Started(ended=ENDED), folder)
        return {path: browser.get(path) for path in paths()}


def paths(kind="GET"):
    """Yield an address for each route of the panel, and each value that its path may have."""
    for route in ROUTES:
        if kind not in route.methods:
            continue
        names = re.findall(r"\{(\w+)(?::int)?\}", route.path)
        for values in itertools.product(*(VALUES[name] for name in names)):
            path = route.path
            for name, value in zip(names, values, strict=True):
                path = re.sub(rf"\{{{name}(:int)?\}}", value, path)
            query = QUERIES.get(route.path, "")
            yield path + query + (quote(ATTACK) if query else "")


def pages(responses):
    """Yield the address and the text of each page of the panel."""
    for path, response in responses.items():
        assert response.status_code in (200, 303, 400, 404), f"{path}: {response.status_code}"
        if response.headers.get("content-type", "").startswith("text/html"):
            yield path, response.text


def test_text_of_strangers_is_never_markup(responses):
    attacked = 0
    for path, text in pages(responses):
        check_markup(path, text)
        attacked += "alert(1)" in text
    assert attacked > 30


@pytest.mark.parametrize("name", SHOWN_FILTERS)
def test_filters_that_are_echoed_are_never_markup(hostile, name):
    for report in REPORTS.values():
        if name in report.filters:
            path = f"/crawls/1/reports/{report.name}?{name}={quote(ATTACK)}"
            check_markup(path, hostile.get(path).text)


def test_no_control_character_of_strangers_is_shown_or_saved(responses):
    for path, response in responses.items():
        if not path.endswith((".parquet", "manifest.json", "hosts.txt")):  # bytes, and what people typed
            found = CONTROLS.search(response.content.decode("utf-8", "replace"))
            assert found is None, f"{path}: {found}"


def check_markup(path, text):
    """Fail if a page contains anything that our templates do not write."""
    tree = LexborHTMLParser(text)
    assert not tree.css("img, iframe, frame, object, embed, style, applet, base, meta[http-equiv]"), path
    for script in tree.css("script"):
        source = script.attributes.get("src")
        if source is None:
            assert script.attributes.get("type") == "application/json", f"{path}: a script within the page"
            assert "<" not in script.text(), path
            json.loads(script.text())
        else:
            assert source.startswith("/static/"), path
    for element in tree.css("*"):
        for name, value in element.attributes.items():
            assert not name.startswith("on"), f"{path}: {element.html[:200]}"
            assert name != "style", f"{path}: {element.html[:200]}"
            if name in ("href", "src", "action", "formaction", "hx-get", "hx-post"):
                check_address(path, element, value)


def check_address(path, element, value):
    parts = urlsplit(value)
    assert parts.scheme in ("", "http", "https"), f"{path}: {value}"
    if parts.scheme or parts.netloc:  # a page of the web: it opens in a tab of its own, and learns nothing of ours
        assert element.tag == "a", f"{path}: {element.html[:200]}"
        assert "noopener" in element.attributes["rel"], f"{path}: {element.html[:200]}"
        assert "noreferrer" in element.attributes["rel"], f"{path}: {element.html[:200]}"
    else:
        assert re.match(r"/(?!/)|[?#]", value), f"{path}: {value}"


def test_log_lines_are_never_markup(hostile, sqlite, tmp_path):
    change_crawl(sqlite, name="spring")
    folder = tmp_path / "logs/panel/spring"
    folder.mkdir(parents=True)
    (folder / "1.log").write_text(f"said {ATTACK}", "utf-8")
    JobRecord(tmp_path / RECORD).add(Job("spring", "logs/panel/spring/1.log", crawl_id=1))
    text = hostile.get("/crawls/1/work").text
    check_markup("work", text)
    assert re.search("said .*&lt;img src=x onerror=alert\\(1\\)&gt;", text)


def test_every_response_forbids_frames_and_scripts_and_styles_within_pages(responses, hostile, monkeypatch):
    def check(response):
        assert response.headers["content-security-policy"] == guard.POLICY, response.url
        assert response.headers["x-frame-options"] == "DENY", response.url
        return response.status_code

    for response in (*responses.values(), hostile.get("/nowhere"), hostile.get("/static/panel.css")):
        check(response)
    assert check(hostile.get("/", host="evil.example")) == 421
    tag = hostile.get("/static/panel.css").headers["etag"]
    assert check(hostile.get("/static/panel.css", **{"if-none-match": tag})) == 304
    monkeypatch.setattr(crawl_pages, "crawls_overview", lambda *_: 1 / 0)
    assert check(hostile.get("/")) == 500
    assert "unsafe" not in guard.POLICY
    assert guard.POLICY.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in guard.POLICY


def test_no_cell_of_a_csv_file_is_a_formula(responses):
    checked = 0
    for path, response in responses.items():
        if not path.endswith(".csv") or response.status_code == 404:
            continue
        assert response.status_code == 200, path
        assert response.headers["content-disposition"].startswith('attachment; filename="'), path
        for row in csv.reader(io.StringIO(response.text, newline="")):
            for cell in row:
                assert not cell.startswith(FORMULAS) or is_number(cell), f"{path}: {cell[:80]}"
                checked += ATTACK[:4] in cell
    assert checked > 50


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "path",
    [
        "/static/../../settings.py",
        "/static/..%2f..%2fsettings.py",
        "/static/%2e%2e/guard.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/crawls/1/reports/..%2f..%2f..%2fetc%2fpasswd.csv",
        "/crawls/1/reports/pages.csv%2f..%2f..%2fsettings.py",
        "/crawls/1/pictures/..%2f..%2fsettings.csv",
        "/crawls/1/graph/full.gexf%2f..%2f..%2f..%2fetc%2fpasswd",
        "/crawls/1/compare/..%2fpages.csv",
    ],
)
def test_paths_of_others_are_not_read(hostile, path):
    response = hostile.get(path)
    assert response.status_code in (400, 404)
    assert "root:" not in response.text
    assert "import" not in response.text


@pytest.mark.parametrize("name", ["../../etc", "/etc", "..", "a/../../b", "a\\b", ATTACK])
def test_name_of_a_crawl_leads_to_no_other_folder(hostile, sqlite, tmp_path, name):
    secret = tmp_path.parent / "etc"
    secret.mkdir(exist_ok=True)
    (secret / "1.log").write_text("secret", "utf-8")
    JobRecord(tmp_path / RECORD).add(Job(name, f"logs/panel/{name}/1.log", crawl_id=1))
    change_crawl(sqlite, name=name)
    assert "secret" not in hostile.get("/crawls/1/work").text
    for path in ("/crawls/1/reports/pages.csv", "/crawls/1/manifest.json"):
        sent = hostile.get(path).headers["content-disposition"]
        assert re.fullmatch(r'attachment; filename="[\w.-]+"', sent), sent


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_other_sites_may_lead_to_the_panel_but_load_nothing_of_it(hostile, site):
    headers = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    for path in ("/", "/crawls/1/reports/duplicates?again=1", "/static/panel.js"):
        assert hostile.get(path, **headers).status_code == 403
        for frame in ("iframe", "frame", "object", "embed", "fencedframe"):
            inside = {**headers, "sec-fetch-mode": "navigate", "sec-fetch-dest": frame}
            assert hostile.get(path, **inside).status_code == 403
    led = {**headers, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert hostile.get("/", **led).status_code == 200


def test_five_wrong_passwords_a_minute_may_be_tried(open_panel, monkeypatch):
    monkeypatch.setattr("crawlers.web.pages.login_page.time.sleep", lambda _: None)
    browser = open_panel(PASSWORD)
    for _ in range(5):
        assert browser.post("/login", "/login", password="wrong").status_code == 401
    refused = browser.post("/login", "/login", password=PASSWORD)
    assert (refused.status_code, "too many wrong passwords" in refused.text) == (429, True)
    assert browser.get("/").headers["location"] == "/login"


def test_attempts_are_counted_by_network_for_a_minute():
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    for number in range(5):
        attempts.add(f"2001:db8:0:1::{number}")
        now[0] += 1
    assert attempts.are_used_up("2001:db8:0:1:ffff::")
    assert not attempts.are_used_up("2001:db8:0:2::")
    assert not attempts.are_used_up("192.0.2.1")
    for _ in range(5):
        attempts.add("::ffff:192.0.2.7")  # as a panel on :: sees it
    assert attempts.are_used_up("192.0.2.7")
    assert not attempts.are_used_up("::ffff:192.0.2.8")
    now[0] = 60.5
    assert not attempts.are_used_up("2001:db8:0:1::")


def test_networks_whose_attempts_are_remembered_are_limited(monkeypatch):
    monkeypatch.setattr(guard, "MAX_NETWORKS", 2)
    attempts = Attempts(lambda: 0.0)
    for address in ("192.0.2.1", "192.0.2.2", "192.0.2.3"):
        for _ in range(5):
            attempts.add(address)
    assert [attempts.are_used_up(f"192.0.2.{number}") for number in (1, 2, 3)] == [False, True, True]


@pytest.mark.parametrize(
    "url",
    [
        f"postgres://me:{SECRET}@127.0.0.1:1/name",
        f"postgresql://me:{SECRET}@127.0.0.1:1/name",
        f"mysql://me:{SECRET}@127.0.0.1:1/name",
        f"postgresql+psycopg://me:{SECRET}@127.0.0.1:x/name",
        f"postgresql+psycopg://me:a@{SECRET}@127.0.0.1:x/name",
        f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/name",
        f"postgresql+psycopg://me@127.0.0.1:1/name?password={SECRET}",
        f"postgresql://me@127.0.0.1:x/name?password={SECRET}&sslpassword={SECRET}",
    ],
)
def test_secrets_of_a_database_url_are_not_in_messages(url):
    with pytest.raises((ConfigError, StoreError)) as raised:
        Database(url, silence_s=1.0)
    assert SECRET not in str(raised.value)
    assert "127.0.0.1" in str(raised.value)


def test_secrets_of_a_database_url_are_on_no_page(responses):
    for path, text in pages(responses):
        assert SECRET not in text, path
    assert SECRET not in responses["/crawls/1/manifest.json"].text


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "////evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example",
     "https://evil.example", "javascript:alert(1)", "evil.example", ""],
)  # fmt: skip
def test_nobody_is_led_to_another_site(browser, crawl_id, target):
    response = browser.post("/preferences", page=target, language="en", theme="dark")
    location = response.headers["location"]
    assert location.startswith("/")
    assert not location.startswith(("//", "/\\"))
    assert urlsplit(location).netloc == ""


def test_renewal_leads_to_the_same_page(browser, crawl_id):
    location = browser.get("/crawls/1/reports/traps?again=1&site=//evil.example").headers["location"]
    assert location == "/crawls/1/reports/traps?site=%2F%2Fevil.example"


ODD = ["\0", "a\0b", "\ud800", "9" * 5000, "9" * 900, "9" * 19, "-1", "1e9", "٣", "x" * 15_000, "%", "%%%", "{}"]
ODD += ["' OR 1=1 --", "\u202e"]
PLACES = [
    *(f"/crawls/1/reports/pages?{name}={{0}}" for name in ("text", "site", "reason", "since", "level", "after")),
    "/crawls/1/reports/external-links?host={0}&after={0}",
    "/crawls/1/reports/traps?sort={0}",
    "/crawls/1/explain?url={0}",
    "/crawls/1/explain/links?url=http://a.test/&after={0}",
    "/crawls/1/rules?regex={0}",
    "/crawls/1/compare?with={0}",
    "/crawls/{0}",
    "/sites/{0}",
    "/crawls/1/documents/{0}",
    "/sites?text={0}&state={0}&by={0}&page={0}",
    "/start?like={0}",
]


@needs("news")
def test_odd_parameters_are_errors_in_words(database, starter, tmp_path):
    hostile_store(database)
    client = panel_of(database, starter, tmp_path).client
    for odd, place in itertools.product(ODD, PLACES):
        path = place.format(quote(odd, errors="surrogatepass"))
        response = client.get(path)
        assert response.status_code in (200, 303, 400, 404, 414, 422), f"{path[:80]}: {response.status_code}"
        assert "Internal error" not in response.text, path[:80]


@pytest.mark.parametrize("after", ["9.9.9.9", "9223372036854775807.0.0.0", "-1.-1.-1.-1", "1.1.99999999999.1"])
def test_cursors_of_nowhere_show_some_rows_or_are_refused(browser, crawl_id, after):
    assert browser.get(f"/crawls/1/reports/pages?after={after}").status_code in (200, 400)


@pytest.mark.parametrize("path", ["/start", "/sites", "/sites/import", "/preferences", "/crawls/1/stop"])
def test_fields_with_nul_are_refused(browser, crawl_id, path):
    fields = ("text", "url", "name", "page", "spider", "full_name")
    response = browser.post(path, **dict.fromkeys(fields, "a\0b"))
    assert (response.status_code, "contains a NUL" in response.text) == (400, True)


def test_slow_reader_of_a_file_keeps_no_transaction_open(sqlite, monkeypatch):
    monkeypatch.setattr("crawlers.web.pages.report_pages.ROWS_OF_FILE", 7)
    crawl_id, report = stored_crawl(sqlite), REPORTS["pages"]
    expected = report_rows(sqlite, report, crawl_id)
    found = []
    for row in all_rows(sqlite, crawl_id, report, NO_FILTERS):
        found.append(row)
        assert sqlite.engine.pool.checkedout() == 0
    assert found == expected
