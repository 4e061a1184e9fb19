"""Heads of responses without end, or with absurd contents, are bounded, and end in a state with a reason."""

import pytest

from crawlers.items import State
from tests.support.sites.project import Project
from tests.support.sites.server import Web, links

HTML = links("/leaf").encode()
HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n"
LENGTH = b"Content-Length: %d\r\n\r\n" % len(HTML)
READ_AHEAD = 8_000_000  # bytes that the kernel may buffer unread, and those that are read before the limit


def sending(*parts):
    async def respond(exchange):
        for part in parts:
            await exchange.body(part)

    return respond


def pouring(first, block):
    async def respond(exchange):
        await exchange.body(first)
        while True:
            await exchange.body(block)

    return respond


def head(*lines):
    return sending(HEAD + b"".join(line + b"\r\n" for line in lines) + LENGTH + HTML)


def empty(status):
    return sending(f"HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode())


def head_of_redirect(location):
    async def respond(exchange):
        value = location.replace("HOST", exchange.request.headers["host"])
        await exchange.head(302, Location=value, Content_Length=0)

    return respond


NOT_HTTP = State.FAILED, "not_http"
LONG_HEAD = State.REFUSED, "long_headers 256"
# path: handler, state, reason
CASES = {
    "/endless-headers": (pouring(HEAD, b"X: y\r\n" * 1000), *LONG_HEAD),
    "/endless-1xx": (pouring(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 99), *LONG_HEAD),
    "/endless-folding": (pouring(HEAD + b"X: y\r\n", b" y\r\n" * 1000), *LONG_HEAD),
    "/endless-line": (pouring(HEAD, b"x" * 10_000), State.REFUSED, "long_header 64"),
    "/endless-status": (pouring(b"HTTP/1.1 200 ", b"x" * 10_000), State.REFUSED, "long_header 64"),
    "/100000-headers": (head(*[b"X-%d: y" % n for n in range(100_000)]), *LONG_HEAD),
    "/1-megabyte": (head(b"X: " + b"y" * 1_000_000), State.REFUSED, "long_header 64"),
    "/long-policy": (head(b"Content-Security-Policy: " + b"y" * 60_000), State.DONE, ""),
    "/folded": (head(b"X: a", b" b", b"\tc"), State.DONE, ""),
    "/some-1xx": (sending(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 50 + HEAD + LENGTH + HTML), State.DONE, ""),
    "/nul": (head(b"X\0: \0"), *NOT_HTTP),
    "/folded-at-first": (sending(b"HTTP/1.1 200 OK\r\n x: y\r\n" + LENGTH), *NOT_HTTP),
    "/no-status": (sending(b"Content-Type: text/html\r\n\r\n" + HTML), *NOT_HTTP),
    "/http-0.9": (sending(HTML), State.FAILED, "connection_failed"),
    "/http-2": (sending(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), *NOT_HTTP),
    "/tls-alert": (sending(b"\x15\x03\x01\x00\x02\x02\x46\r\n"), *NOT_HTTP),
    **{
        f"/status-{status}"[:40]: (
            empty(status),
            *NOT_HTTP,
        )
        for status in ("0", "1", "99", "1000", "-200", "9999999999", "9" * 5000, "2OO", "200.5")
    },
    **{f"/status-{status}": (empty(status), State.REFUSED, f"status {status}") for status in (204, 299, 304, 600, 999)},
    "/two-lengths": (head(b"Content-Length: 5"), *NOT_HTTP),
    "/same-lengths": (head(b"Content-Length: %d" % len(HTML)), State.DONE, ""),
    "/negative-length": (sending(HEAD + b"Content-Length: -5\r\n\r\n"), *NOT_HTTP),
    "/long-length": (sending(HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n"), *NOT_HTTP),
    "/huge-length": (sending(HEAD + b"Content-Length: 99999999999999999999\r\n\r\n"), State.REFUSED, "too_large"),
    **{
        f"/to-{name}": (head_of_redirect(location), State.REFUSED, reason)
        for name, location, reason in (
            ("file", "file:///etc/passwd", "redirect_to_bad_url other_scheme file"),
            ("ftp", "ftp://127.0.0.1/x", "redirect_to_bad_url other_scheme ftp"),
            ("s3", "s3://bucket/key", "redirect_to_bad_url other_scheme s3"),
            ("script", "javascript:alert(1)", "redirect_to_bad_url other_scheme javascript"),
            ("data", "data:text/html,<a href=/leaf>x</a>", "redirect_to_bad_url other_scheme data"),
            ("long", "/" + "x" * 20_000, "redirect_to_bad_url long_url 8192"),
            ("elsewhere", "http://user:secret@other.example/", "redirect_to_other_site http://other.example/"),
            (
                "folded",
                "/a\r\n " + "\r\n ".join(["x" * 9000] * 9),
                "redirect_to_bad_url long_url 8192",
            ),
        )
    },
    **{
        f"/at-{name}": (head_of_redirect(location), State.MOVED, "")
        for name, location in (
            ("control", "/a\x01\x7fb"),
            ("nul", "/a\0b"),
            ("escape", "/%zz%"),
            ("bytes", "/\xff\xfe"),
            ("user", "//user:secret@HOST/own"),
        )
    },
    "/base": (
        sending(HEAD + b"\r\n<base href='file:///etc/'><a href=passwd>x</a><a href='http://u:secret@[::1'>y</a>"),
        State.DONE,
        "",
    ),
    "/unknown-transfer": (sending(HEAD + b"Transfer-Encoding: gzip\r\n\r\n" + HTML), *NOT_HTTP),
}
# What libcurl does differently: it unfolds headers before it passes them on, and refuses NUL (RFC 9110 section 5.5).
CURL = {
    "/endless-headers": (State.REFUSED, "many_headers 4096"),
    "/100000-headers": (State.REFUSED, "many_headers 4096"),
    "/endless-folding": (State.REFUSED, "long_header 64"),
    "/to-folded": (State.REFUSED, "long_header 64"),
    "/at-nul": NOT_HTTP,
    "/http-0.9": NOT_HTTP,
}


async def respond(exchange):
    if exchange.path == "/":
        await exchange.page(links(*CASES))
    elif exchange.path in CASES:
        await CASES[exchange.path][0](exchange)
    else:
        await exchange.page(status=404)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory, http_client):
    folder = tmp_path_factory.mktemp("heads")
    project = Project(folder, HTTP_CLIENT=http_client, DOWNLOAD_TIMEOUT=30, RETRY_TIMES=1, RETRY_BACKOFF_SECONDS=0)
    with Web(hostile=respond) as web:
        ended = project.crawl(web.hosts())
        assert ended.status == 0, ended.log
        yield web["hostile"], project, ended.log


@pytest.mark.parametrize("path", CASES)
def test_every_head_ends_in_a_state_with_a_reason(crawled, http_client, path):
    site, project, _ = crawled
    expected = CASES[path][1:]
    if http_client == "curl":
        expected = CURL.get(path, expected)
    assert project.pages(site.origin)[path] == expected


@pytest.mark.parametrize("path", [path for path in CASES if path.startswith("/endless")])
def test_endless_heads_are_not_read_for_long(crawled, path):
    site, _, _ = crawled
    assert site.count(path) == 1
    assert site.sent_bytes[path] < READ_AHEAD


def test_users_see_no_traceback(crawled):
    _, _, log = crawled
    assert "Traceback" not in log
    assert " ERROR: " not in log


def test_no_file_stores_a_password(crawled):
    _, project, log = crawled
    assert "secret" not in log
    for file in project.folder.rglob("*"):
        assert not file.is_file() or b"secret" not in file.read_bytes(), file
