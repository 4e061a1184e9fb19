"""What others can't do to the panel, and what its pages can't do in the browser."""

import re

import pytest
from starlette.routing import Mount, Route
from starlette.websockets import WebSocketDisconnect

from crawlers.errors import ConfigError
from crawlers.web.serving import access_on
from tests.unit.web.conftest import FORM, HOST, PORT

PASSWORD = "a long password"


def token_of(browser):
    return FORM.search(browser.get("/").text)[1]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8060", "127.0.0.1", "127.0.0.1:80", "localhost", ""])
def test_foreign_host_header_is_refused(browser, crawl_id, host):
    response = browser.get("/", host=host)
    assert response.status_code == 421
    assert f"open http://{HOST}/" in response.text
    assert "spring" not in response.text


def test_all_routes_that_change_something_need_the_token(browser, crawl_id):
    posted = 0
    for route in browser.client.app.routes:
        if isinstance(route, Mount):
            continue
        assert isinstance(route, Route)
        if "POST" not in route.methods:
            assert route.methods <= {"GET", "HEAD"}
            continue
        path = re.sub(r"\{\w+:int\}", str(crawl_id), route.path)
        path = path.replace("{action}", "stop").replace("{switch}", "disable")
        for form in ({}, {"csrf": "x"}, {"csrf": ""}):
            assert browser.client.post(path, data=form, headers={"origin": f"http://{HOST}"}).status_code == 403
        posted += 1
    assert posted >= 10


FOREIGN = [("origin", "http://evil.example"), ("origin", "null"), ("origin", "http://127.0.0.1:9999")]
FOREIGN += [("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site")]


@pytest.mark.parametrize("header", FOREIGN, ids=str)
def test_form_of_another_site_is_refused_even_with_the_token(browser, crawl_id, header):
    response = browser.client.post("/preferences", data={"csrf": token_of(browser)}, headers=[header])
    assert (response.status_code, "another site" in response.text) == (403, True)


def test_token_of_another_session_is_refused(open_panel, crawl_id):
    mine, theirs = open_panel(), open_panel()
    mine.get("/")
    assert mine.client.post("/preferences", data={"csrf": token_of(theirs)}).status_code == 403


@pytest.mark.parametrize("cookie", ["x", "eyJhbGciOiJub25lIn0.e30.", "\x00"])
def test_cookie_that_is_not_signed_by_us_is_no_session(open_panel, crawl_id, cookie):
    panel = open_panel(PASSWORD)
    panel.client.cookies.set(f"crawlers-session-{PORT}", cookie)
    assert panel.get("/").headers["location"] == "/login"


def test_panel_on_another_port_of_the_host_leaves_the_session_alone(open_panel, crawl_id):
    mine, theirs = open_panel(), open_panel(port=PORT + 1)
    token = token_of(mine)
    theirs.get("/")
    mine.client.cookies.update(theirs.client.cookies)  # as in a browser: cookies know no ports
    assert mine.client.post("/preferences", data={"csrf": token}).status_code == 303


def test_password_opens_the_panel_in_a_new_session_whose_cookie_opens_nothing_after_it(open_panel, crawl_id):
    browser = open_panel(PASSWORD)
    browser.get("/login")
    before = browser.client.cookies[f"crawlers-session-{PORT}"]
    assert browser.post("/login", "/login", password=PASSWORD).headers["location"] == "/"
    cookie = browser.client.cookies[f"crawlers-session-{PORT}"]
    assert cookie != before
    assert "spring" in browser.get("/").text
    assert browser.post("/logout").headers["location"] == "/login"
    assert browser.get("/").headers["location"] == "/login"
    browser.client.cookies.set(f"crawlers-session-{PORT}", cookie)
    assert browser.get("/").headers["location"] == "/login"


@pytest.mark.parametrize("other", ['settings={"theme": "dark"}', "a b=c", "=", "x", "a[=1"])
def test_cookies_of_other_programs_on_this_host_leave_the_session_alone(open_panel, crawl_id, other):
    browser = open_panel(PASSWORD)
    browser.post("/login", "/login", password=PASSWORD)
    [own] = browser.client.cookies.items()
    browser.client.cookies.clear()
    for cookies in (f"{other}; {own[0]}={own[1]}", f"{own[0]}={own[1]}; {other}"):
        assert "spring" in browser.get("/", cookie=cookies).text


def test_passwords_that_are_tried_at_the_same_time_hold_no_threads(open_panel, crawl_id, monkeypatch):
    browser, other, refused = open_panel(PASSWORD), open_panel(PASSWORD), []

    def pause(_):  # while the first one is being checked
        refused.append(other.post("/login", "/login", password=PASSWORD))

    monkeypatch.setattr("crawlers.web.pages.login_page.time.sleep", pause)
    assert browser.post("/login", "/login", password="wrong").status_code == 401
    assert [(one.status_code, "try again in a second" in one.text) for one in refused] == [(429, True)]
    assert other.post("/login", "/login", password=PASSWORD).headers["location"] == "/"


def test_wrong_password_is_refused(open_panel, crawl_id, monkeypatch):
    pauses = []
    monkeypatch.setattr("crawlers.web.pages.login_page.time.sleep", pauses.append)
    browser = open_panel(PASSWORD)
    response = browser.post("/login", "/login", password=PASSWORD + " ")
    assert (response.status_code, "The password is wrong." in response.text) == (401, True)
    assert browser.get("/").headers["location"] == "/login"
    assert pauses == [1.0]


@pytest.mark.parametrize("path", ["/", "/static/panel.css", "/login"])
def test_websockets_are_refused(open_panel, path):
    with pytest.raises(WebSocketDisconnect), open_panel(PASSWORD).client.websocket_connect(path):
        pass


def test_cookie_can_not_be_read_by_scripts_nor_sent_by_other_sites(browser, crawl_id):
    cookie = browser.get("/").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


NEEDS = "set WEB_PASSWORD, of at least 8 characters"


NO_HOST = "is neither host nor host:port; write for example"
LOCAL = "127.0.0.1"


@pytest.mark.parametrize(
    ("address", "port", "password", "names", "message"),
    [
        (LOCAL, PORT, " " * 12, [], "WEB_PASSWORD is blank"),
        ("0.0.0.0", PORT, " " * 12, [], "WEB_PASSWORD is blank"),
        ("example.org", PORT, "", [], r"--host example.org is not an IP address; write for example 127\.0\.0\.1"),
        *((address, PORT, "", [], NEEDS) for address in ("0.0.0.0", "192.0.2.1", "::")),
        ("0.0.0.0", PORT, "short", [], NEEDS),
        *((LOCAL, n, "", [], f"--port {n} is not a port; choose one from 1 to 65535") for n in (-1, 0, 65536, 10**20)),
        *((LOCAL, PORT, "", [name], NO_HOST) for name in ("https://a.test", "a.test:x", "[a]", "a b", "a.test/")),
    ],
)
def test_access_that_can_not_be_is_an_error_that_says_what_to_write(address, port, password, names, message):
    with pytest.raises(ConfigError, match=message):
        access_on(address, port, password, names)


@pytest.mark.parametrize(
    ("names", "host"),
    [
        (["panel.example"], "panel.example:8060"),
        (["panel.example"], "panel.example"),  # behind a proxy
        (["crawls.example.org:443"], "crawls.example.org"),
        (["crawls.example.org:443"], "crawls.example.org:443"),
        (["Panel.example:8443"], "panel.example:8443"),
        (["[fd00::2]:443"], "[fd00::2]"),
        (["fd00:0::2"], "[fd00::2]:8060"),
        ([], "0.0.0.0:8060"),
    ],
)
def test_host_that_browsers_send_is_ours(names, host):
    assert host in access_on("0.0.0.0", PORT, PASSWORD, names).hosts


def test_ipv6_address_is_in_brackets():
    assert "[fd00::1]:8060" in access_on("fd00::1", PORT, PASSWORD, []).hosts


def test_other_names_and_ports_are_not_ours():
    hosts = access_on("0.0.0.0", PORT, PASSWORD, ["crawls.example.org:8443"]).hosts
    assert hosts.isdisjoint({"crawls.example.org", "crawls.example.org:8060", "example.org"})
