"""Responses of bad networks and servers end in a state with a reason; only pages are read."""

import asyncio
import gzip
import os

import brotli
import pytest

from crawlers.items import State
from tests.support.sites.project import Project
from tests.support.sites.server import Web, links

MEGABYTE = 1_000_000
LARGE = 64 * MEGABYTE
MAXSIZE = 2 * MEGABYTE
READ_AHEAD = 16 * MEGABYTE  # bytes that the kernel may buffer unread
HTML = "<!DOCTYPE html><title>Fine</title>" + links("/leaf")
BOMB = gzip.compress(bytes(10 * MAXSIZE))
NOISE = os.urandom(MEGABYTE // 10)


async def pour(exchange, size, **headers):
    await exchange.head(**headers)
    for _ in range(size // MEGABYTE):
        await exchange.body(bytes(MEGABYTE))


async def short(exchange):
    await exchange.head(Content_Length=1000)
    await exchange.body(HTML.encode())


async def short_chunks(exchange):
    await exchange.head(Transfer_Encoding="chunked")
    await exchange.body(b"%x\r\n%s\r\n" % (len(HTML), HTML.encode()))


async def long(exchange):
    await exchange.head(Content_Length=len(HTML))
    await exchange.body(HTML.encode() + b"<a href=/never>never</a>")


async def unannounced(exchange):
    await exchange.head()
    await exchange.body(HTML.encode())


async def slow(exchange):
    await exchange.head(Content_Length=len(HTML))
    for character in HTML.encode():
        await exchange.body(bytes([character]))
        await asyncio.sleep(0.001)


async def stalled(exchange):
    await exchange.head(Content_Length=1000)
    await exchange.body(b"<title>")
    await asyncio.sleep(60)


async def reset(exchange):
    exchange.reset()


async def reset_within(exchange):
    await exchange.head(Content_Length=1000)
    await exchange.body(b"<title>")
    await asyncio.sleep(0.05)
    exchange.reset()


async def silent(exchange):
    pass


async def gibberish(exchange):
    await exchange.body(b"220 smtp.example ESMTP\r\n\r\n")


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
        await pour(exchange, LARGE, **headers)

    return respond


TYPE = State.REFUSED, "content_type application/x-archive"
BOMBED = State.REFUSED, "too_large_decompressed"
# path: handler, state, reason
CASES = {
    "/short": (short, State.DONE, "body_cut"),
    "/short-chunks": (short_chunks, State.DONE, "body_cut"),
    "/long": (long, State.DONE, ""),
    "/unannounced": (unannounced, State.DONE, ""),
    "/slow": (slow, State.DONE, ""),
    "/stalled": (stalled, State.FAILED, "timeout"),
    "/reset": (reset, State.FAILED, "connection_failed"),
    "/reset-within": (reset_within, State.DONE, "body_cut"),
    "/reset-once": (reset_once, State.DONE, ""),
    "/silent": (silent, State.FAILED, "connection_failed"),
    "/gibberish": (gibberish, State.FAILED, "not_http"),
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
    "/members": (
        responding(gzip.compress(gzip.compress(b"") * 100_000), Content_Encoding="gzip, gzip"),
        State.REFUSED,
        "many_compressed_parts 1000",
    ),
    "/damaged": (responding(Content_Encoding="br"), State.REFUSED, "damaged_encoding br"),
    "/truncated": (
        responding(gzip.compress(HTML.encode())[:-12], Content_Encoding="gzip"),
        State.REFUSED,
        "damaged_encoding gzip",
    ),
    "/escape": (responding(Content_Encoding="\x1b[2J"), State.DONE, ""),
    "/gzip": (responding(gzip.compress(HTML.encode()), Content_Encoding="gzip"), State.DONE, ""),
    "/noise": (responding(NOISE), State.DONE, ""),
    "/nothing": (responding("", 204), State.REFUSED, "status 204"),
    "/teapot": (responding(status=418), State.REFUSED, "status 418"),
    "/strange": (responding(status=999), State.REFUSED, "status 999"),
    "/moved": (responding("", 302, Location="/привет?ж".encode().decode("latin-1")), State.MOVED, ""),
    "/%D0%BF%D1%80%D0%B8%D0%B2%D0%B5%D1%82?%D0%B6": (responding(), State.DONE, ""),
}


async def respond(exchange):
    if exchange.path == "/":
        await exchange.page(links(*(path for path in CASES if "%" not in path)))
    elif exchange.path in CASES:
        await CASES[exchange.path][0](exchange)
    else:
        await exchange.page(status=404)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory, http_client):
    project = Project(
        tmp_path_factory.mktemp("downloads"),
        HTTP_CLIENT=http_client,
        DOWNLOAD_TIMEOUT=3,
        DOWNLOAD_MAXSIZE=MAXSIZE,
        RETRY_TIMES=1,
        RETRY_BACKOFF_SECONDS=0,
    )
    with Web(odd=respond) as web:
        ended = project.crawl(web.hosts())
        assert ended.status == 0, ended.log
        assert project.states() == [("finished", "finished")]
        yield web["odd"], project, ended.log


@pytest.mark.parametrize("path", CASES)
def test_every_response_ends_in_a_state_with_a_reason(crawled, path):
    site, project, _ = crawled
    _, state, reason = CASES[path]
    assert project.pages(site.origin)[path] == (state, reason)


def test_no_response_causes_a_traceback_or_an_error_in_the_log(crawled):
    _, _, log = crawled
    assert "Traceback" not in log
    assert " ERROR: " not in log


@pytest.mark.parametrize("path", ["/archive", "/announced-archive", "/untyped", "/too-large", "/announced-too-large"])
def test_large_bodies_of_other_types_are_not_read_to_the_end(crawled, path):
    site, _, _ = crawled
    assert site.count(path) == 1
    assert site.sent_bytes[path] < READ_AHEAD < LARGE


def test_small_bodies_are_read_to_the_end(crawled):
    site, project, _ = crawled
    assert site.sent_bytes["/small-archive"] == 10_000
    assert project.query("SELECT size_bytes FROM page WHERE url LIKE '%/small-archive'") == [(10_000,)]


def test_failed_downloads_are_retried_as_often_as_configured(crawled):
    site, _, _ = crawled
    for path in ("/short", "/stalled", "/reset", "/reset-within", "/silent", "/gibberish"):
        assert site.count(path) == 2, path


def test_bytes_beyond_the_announced_length_are_not_part_of_the_page(crawled):
    site, _, _ = crawled
    assert site.count("/leaf") == 1
    assert site.count("/never") == 0
