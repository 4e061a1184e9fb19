"""What others can't do to the panel, and what its pages can't do in the browser."""

from __future__ import annotations

import re

import pytest
from starlette.routing import Mount, Route

from crawlers.errors import ConfigError
from crawlers.web.serving import access_on
from tests.unit.web.conftest import HOST, PORT

PASSWORD = "a long password"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8060", "127.0.0.1", "127.0.0.1:80", "localhost", ""])
def test_foreign_host_header_is_refused(browser, crawl_id, host):
    response = browser.get("/", host=host)
    assert response.status_code == 421
    assert f"open http://{HOST}/" in response.text
    assert "spring" not in response.text


@pytest.mark.parametrize("host", [HOST, "localhost:8060", "[::1]:8060"])
def test_names_of_this_machine_are_ours(browser, crawl_id, host):
    assert browser.get("/", host=host).status_code == 200


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


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=str,
)
def test_form_of_another_site_is_refused_even_with_the_token(browser, crawl_id, headers):
    token = browser.client.get("/").text.partition('name="csrf" value="')[2].partition('"')[0]
    response = browser.client.post("/preferences", data={"csrf": token}, headers=headers)
    assert (response.status_code, "another site" in response.text) == (403, True)


def test_token_of_another_session_is_refused(open_panel, crawl_id):
    mine, theirs = open_panel(), open_panel()
    token = theirs.get("/").text.partition('name="csrf" value="')[2].partition('"')[0]
    mine.get("/")
    assert mine.client.post("/preferences", data={"csrf": token}).status_code == 403


@pytest.mark.parametrize("cookie", ["x", "eyJhbGciOiJub25lIn0.e30.", "\x00"])
def test_cookie_that_is_not_signed_by_us_is_no_session(open_panel, crawl_id, cookie):
    panel = open_panel(PASSWORD)
    panel.client.cookies.set("crawlers-session", cookie)
    assert panel.get("/").headers["location"] == "/login"


@pytest.mark.parametrize("path", ["/", "/crawls/1", "/crawls/1/reports/pages", "/crawls/1/reports/pages.csv", "/x"])
def test_whoever_has_not_given_the_password_sees_the_login_page_only(open_panel, crawl_id, path):
    response = open_panel(PASSWORD).get(path)
    assert (response.status_code, response.headers["location"], response.text) == (303, "/login", "")


def test_password_opens_the_panel_in_a_new_session(open_panel, crawl_id):
    browser = open_panel(PASSWORD)
    browser.get("/login")
    before = browser.client.cookies["crawlers-session"]
    assert browser.post("/login", "/login", password=PASSWORD).headers["location"] == "/"
    assert browser.client.cookies["crawlers-session"] != before
    assert "spring" in browser.get("/").text
    assert browser.post("/logout").headers["location"] == "/login"
    assert browser.get("/").headers["location"] == "/login"


def test_wrong_password_is_refused(open_panel, crawl_id, monkeypatch):
    pauses = []
    monkeypatch.setattr("crawlers.web.pages.login_page.time.sleep", pauses.append)
    browser = open_panel(PASSWORD)
    response = browser.post("/login", "/login", password=PASSWORD + " ")
    assert (response.status_code, "The password is wrong." in response.text) == (401, True)
    assert browser.get("/").headers["location"] == "/login"
    assert pauses == [1.0]


@pytest.mark.parametrize("path", ["/", "/static/panel.css", "/nowhere", "/crawls/1/reports/pages.csv"])
def test_every_response_has_the_headers_of_a_strict_page(browser, crawl_id, path):
    headers = browser.get(path).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert (policy["default-src"], policy["script-src"], policy["style-src"]) == ("'none'", "'self'", "'self'")
    assert (policy["frame-ancestors"], policy["base-uri"]) == ("'none'", "'none'")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_cookie_can_not_be_read_by_scripts_nor_sent_by_other_sites(browser, crawl_id):
    cookie = browser.get("/").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


@pytest.mark.parametrize(
    ("address", "password"), [("0.0.0.0", ""), ("192.0.2.1", ""), ("::", ""), ("0.0.0.0", "short")]
)
def test_address_that_others_reach_needs_a_password(address, password):
    with pytest.raises(ConfigError, match="set WEB_PASSWORD, of at least 8 characters"):
        access_on(address, PORT, password, [])


def test_loopback_needs_none():
    assert not access_on("127.0.0.1", PORT, "", []).password
    assert not access_on("::1", PORT, "", []).password


def test_host_that_is_no_address_is_an_error_that_says_what_to_write():
    with pytest.raises(ConfigError, match=r"--host example.org is not an IP address; write for example 127\.0\.0\.1"):
        access_on("example.org", PORT, "", [])


def test_further_names_are_ours():
    hosts = access_on("0.0.0.0", PORT, PASSWORD, ["panel.example", "other.example:443"]).hosts
    assert {"panel.example:8060", "other.example:443", "0.0.0.0:8060"} <= hosts
