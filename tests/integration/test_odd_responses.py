"""Responses of bad networks and hostile servers end in a state with a reason, and are not read for long."""

import asyncio
import gzip
import os

import brotli
import pytest

from crawlers.items import State
from tests.support.running import Project
from tests.support.sites.server import Web, links

MEGABYTE = 1_000_000
LARGE = 64 * MEGABYTE
MAXSIZE = 2 * MEGABYTE
READ_AHEAD = 16 * MEGABYTE  # bytes that the kernel may buffer unread
HTML = "<!DOCTYPE html><title>Fine</title>" + links("/leaf")
BODY = HTML.encode()
ZIPPED = gzip.compress(BODY)
MEMBERS = gzip.compress(gzip.compress(b"") * 100_000)
BOMB = gzip.compress(bytes(10 * MAXSIZE))
NOISE = os.urandom(MEGABYTE // 10)


def sending(*parts):
    """The response is *parts*, without a head of ours."""

    async def respond(exchange):
        for part in parts:
            await exchange.body(part)

    return respond


def cut(body, *, stalls_s=0.0, is_reset=False, **headers):
    """A response whose head may announce another body than is sent."""

    async def respond(exchange):
        await exchange.head(**headers)
        await exchange.body(body)
        await asyncio.sleep(stalls_s)
        if is_reset:
            exchange.reset()

    return respond


async def slow(exchange):
    await exchange.head(Content_Length=len(HTML))
    for character in BODY:
        await exchange.body(bytes([character]))
        await asyncio.sleep(0.001)


async def reset(exchange):
    exchange.reset()


async def reset_once(exchange):
    if exchange.site.count(exchange.path) == 1:
        exchange.reset()
    else:
        await exchange.page(HTML)


def responding(body=HTML, status=200, **headers):
    async def respond(exchange):
        await exchange.page(body, status, **headers)

    return respond


def pouring(**headers):
    async def respond(exchange):
        await exchange.head(**headers)
        for _ in range(LARGE // MEGABYTE):
            await exchange.body(bytes(MEGABYTE))

    return respond


TYPE = State.REFUSED, "content_type application/x-archive"
BOMBED = State.REFUSED, "too_large_decompressed"

# path: handler, state, reason
BODIES = {
    "/short": (cut(BODY, Content_Length=1000), State.DONE, "body_cut"),
    "/short-chunks": (cut(b"%x\r\n%s\r\n" % (len(BODY), BODY), Transfer_Encoding="chunked"), State.DONE, "body_cut"),
    "/long": (cut(BODY + b"<a href=/never>never</a>", Content_Length=len(BODY)), State.DONE, ""),
    "/unannounced": (cut(BODY), State.DONE, ""),
    "/slow": (slow, State.DONE, ""),
    "/stalled": (cut(b"<title>", stalls_s=60, Content_Length=1000), State.FAILED, "timeout"),
    "/reset": (reset, State.FAILED, "connection_failed"),
    "/reset-within": (cut(b"<title>", stalls_s=0.05, is_reset=True, Content_Length=1000), State.DONE, "body_cut"),
    "/reset-once": (reset_once, State.DONE, ""),
    "/silent": (sending(), State.FAILED, "connection_failed"),
    "/gibberish": (sending(b"220 smtp.example ESMTP\r\n\r\n"), State.FAILED, "not_http"),
    "/archive": (pouring(content_type="application/x-archive"), *TYPE),
    "/announced-archive": (pouring(content_type="application/x-archive", Content_Length=LARGE), *TYPE),
    "/untyped": (pouring(content_type=""), State.REFUSED, "no_content_type"),
    "/small-archive": (responding(bytes(10_000), content_type="application/x-archive"), *TYPE),
    "/too-large": (pouring(), State.REFUSED, "too_large"),
    "/announced-too-large": (pouring(Content_Length=LARGE), State.REFUSED, "too_large"),
    "/bomb": (responding(BOMB, Content_Encoding="gzip"), *BOMBED),
    "/brotli-bomb": (responding(brotli.compress(bytes(10 * MAXSIZE), quality=1), Content_Encoding="br"), *BOMBED),
    "/nested-bomb": (responding(gzip.compress(BOMB), Content_Encoding="gzip, gzip"), *BOMBED),
    "/layers": (responding(BOMB, Content_Encoding="gzip," * 300), State.REFUSED, "many_encodings 3"),
    "/members": (responding(MEMBERS, Content_Encoding="gzip, gzip"), State.REFUSED, "many_compressed_parts 1000"),
    "/damaged": (responding(Content_Encoding="br"), State.REFUSED, "damaged_encoding br"),
    "/truncated": (responding(ZIPPED[:-12], Content_Encoding="gzip"), State.REFUSED, "damaged_encoding gzip"),
    "/escape": (responding(Content_Encoding="\x1b[2J"), State.DONE, ""),
    "/gzip": (responding(ZIPPED, Content_Encoding="gzip"), State.DONE, ""),
    "/noise": (responding(NOISE), State.DONE, ""),
    "/nothing": (responding("", 204), State.REFUSED, "status 204"),
    "/teapot": (responding(status=418), State.REFUSED, "status 418"),
    "/strange": (responding(status=999), State.REFUSED, "status 999"),
    "/moved": (responding("", 302, Location="/привет?ж".encode().decode("latin-1")), State.MOVED, ""),
    "/%D0%BF%D1%80%D0%B8%D0%B2%D0%B5%D1%82?%D0%B6": (responding(), State.DONE, ""),
}

# Heads without end, or with absurd contents

LEAF = links("/leaf").encode()
HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n"
BASE = b"<base href='file:///etc/'><a href=passwd>x</a><a href='http://u:secret@[::1'>y</a>"
LENGTH = b"Content-Length: %d\r\n\r\n" % len(LEAF)
HEAD_READ_AHEAD = 8_000_000  # bytes that the kernel may buffer unread, and those that are read before the limit


def without_end(first, block):
    async def respond(exchange):
        await exchange.body(first)
        while True:
            await exchange.body(block)

    return respond


def head(*lines):
    return sending(HEAD + b"".join(line + b"\r\n" for line in lines) + LENGTH + LEAF)


def empty(status):
    return sending(f"HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode())


def head_of_redirect(location):
    async def respond(exchange):
        value = location.replace("HOST", exchange.request.headers["host"])
        await exchange.head(302, Location=value, Content_Length=0)

    return respond


NOT_HTTP = State.FAILED, "not_http"
LONG_HEAD = State.REFUSED, "long_headers 256"
HEADS = {
    "/endless-headers": (without_end(HEAD, b"X: y\r\n" * 1000), *LONG_HEAD),
    "/endless-1xx": (without_end(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 99), *LONG_HEAD),
    "/endless-folding": (without_end(HEAD + b"X: y\r\n", b" y\r\n" * 1000), *LONG_HEAD),
    "/endless-line": (without_end(HEAD, b"x" * 10_000), State.REFUSED, "long_header 64"),
    "/endless-status": (without_end(b"HTTP/1.1 200 ", b"x" * 10_000), State.REFUSED, "long_header 64"),
    "/100000-headers": (head(*[b"X-%d: y" % n for n in range(100_000)]), *LONG_HEAD),
    "/1-megabyte": (head(b"X: " + b"y" * 1_000_000), State.REFUSED, "long_header 64"),
    "/long-policy": (head(b"Content-Security-Policy: " + b"y" * 60_000), State.DONE, ""),
    "/folded": (head(b"X: a", b" b", b"\tc"), State.DONE, ""),
    "/some-1xx": (sending(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 50 + HEAD + LENGTH + LEAF), State.DONE, ""),
    "/nul": (head(b"X\0: \0"), *NOT_HTTP),
    "/folded-at-first": (sending(b"HTTP/1.1 200 OK\r\n x: y\r\n" + LENGTH), *NOT_HTTP),
    "/no-status": (sending(b"Content-Type: text/html\r\n\r\n" + LEAF), *NOT_HTTP),
    "/http-0.9": (sending(LEAF), State.FAILED, "connection_failed"),
    "/http-2": (sending(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), *NOT_HTTP),
    "/tls-alert": (sending(b"\x15\x03\x01\x00\x02\x02\x46\r\n"), *NOT_HTTP),
    **{
        f"/status-{status}"[:40]: (empty(status), *NOT_HTTP)
        for status in ("0", "1", "99", "1000", "-200", "9999999999", "9" * 5000, "2OO", "200.5")
    },
    **{f"/status-{status}": (empty(status), State.REFUSED, f"status {status}") for status in (204, 299, 304, 600, 999)},
    "/two-lengths": (head(b"Content-Length: 5"), *NOT_HTTP),
    "/same-lengths": (head(b"Content-Length: %d" % len(LEAF)), State.DONE, ""),
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
            ("folded", "/a\r\n " + "\r\n ".join(["x" * 9000] * 9), "redirect_to_bad_url long_url 8192"),
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
    "/base": (sending(HEAD + b"\r\n" + BASE), State.DONE, ""),
    "/unknown-transfer": (sending(HEAD + b"Transfer-Encoding: gzip\r\n\r\n" + LEAF), *NOT_HTTP),
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

CASES = BODIES | HEADS


async def respond(exchange):
    if exchange.path == "/":
        await exchange.page(links(*(path for path in CASES if not path.startswith("/%"))))
    elif exchange.path in CASES:
        await CASES[exchange.path][0](exchange)
    else:
        await exchange.page(status=404)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory, http_client):
    project = Project(
        tmp_path_factory.mktemp("odd"),
        HTTP_CLIENT=http_client,
        DOWNLOAD_TIMEOUT=5,
        DOWNLOAD_MAXSIZE=MAXSIZE,
        RETRY_TIMES=1,
        RETRY_BACKOFF_SECONDS=0,
    )
    with Web(odd=respond) as web:
        ended = project.crawl(web.hosts()).done()
        assert project.outcomes == [("finished", "finished")]
        yield web["odd"], project, ended.log


@pytest.mark.parametrize("path", CASES)
def test_every_response_ends_in_a_state_with_a_reason(crawled, http_client, path):
    site, project, _ = crawled
    expected = CASES[path][1:]
    if http_client == "curl":
        expected = CURL.get(path, expected)
    assert project.pages(site.origin)[path] == expected


def test_log_has_no_errors_and_no_file_stores_a_password(crawled):
    _, project, log = crawled
    assert not [word for word in ("Traceback", " ERROR: ", "secret") if word in log]
    files = [file for file in project.folder.rglob("*") if file.is_file()]
    assert [file for file in files if b"secret" in file.read_bytes()] == []


ENDLESS = {path: HEAD_READ_AHEAD for path in HEADS if path.startswith("/endless")}
UNREAD = dict.fromkeys(["/archive", "/announced-archive", "/untyped", "/too-large", "/announced-too-large"], READ_AHEAD)


@pytest.mark.parametrize(("path", "most"), (ENDLESS | UNREAD).items())
def test_endless_heads_and_large_bodies_of_other_types_are_not_read_to_the_end(crawled, path, most):
    site, _, _ = crawled
    assert site.count(path) == 1
    assert site.sent_bytes[path] < most < LARGE


def test_small_bodies_are_read_to_the_end(crawled):
    site, project, _ = crawled
    assert site.sent_bytes["/small-archive"] == 10_000
    assert project.query("SELECT size_bytes FROM page WHERE url LIKE '%/small-archive'") == [(10_000,)]


@pytest.mark.parametrize(
    ("times", "paths"),
    [
        (2, ["/short", "/stalled", "/reset", "/reset-within", "/silent", "/gibberish"]),  # as configured
        (1, ["/leaf"]),
        (0, ["/never"]),  # it is named beyond the announced length
    ],
)
def test_failed_downloads_are_retried_and_no_other(crawled, times, paths):
    assert {path: crawled[0].count(path) for path in paths} == dict.fromkeys(paths, times)
