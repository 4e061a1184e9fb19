"""Crawls sites that attack the crawler by what they send, and prints what each attack costs.

    python -m bench.quality.hostile_servers [--timeout 10]

Each site has a home page and the attack. The figures are the largest resident memory of the process and its processor
time; the first line is a site without an attack. Exit status 1 if a crawl does not end.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import brotli
from backports import zstd

from tests.support.processes import LOOK_EVERY_S
from tests.support.sites.project import Project
from tests.support.sites.server import Web, links

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.support.sites.server import Exchange

    Handler = Callable[[Exchange], Awaitable[None]]

MEGABYTE = 1 << 20
HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def page(body: bytes, **headers: object) -> Handler:
    async def respond(exchange: Exchange) -> None:
        await exchange.page(body, **headers)  # type: ignore[arg-type]

    return respond


def pouring(first: bytes, block: bytes) -> Handler:
    async def respond(exchange: Exchange) -> None:
        await exchange.body(first)
        while True:
            await exchange.body(block)

    return respond


def layered(count: int) -> bytes:
    body = os.urandom(15 * MEGABYTE)
    for _ in range(count):
        compressor = zlib.compressobj(0, zlib.DEFLATED, 31)
        body = compressor.compress(body) + compressor.flush()
    return body


def attacks() -> dict[str, Handler]:
    zeros = bytes(100 * MEGABYTE)
    packed = gzip.compress(zeros)
    return {
        "none": page(b"<title>Fine</title>"),
        "endless headers": pouring(HEAD, b"X-Header: %s\r\n" % (b"x" * 1000) * 100),
        "endless 1xx responses": pouring(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
        "endless header line": pouring(HEAD, b"x" * 100_000),
        "endless chunks": pouring(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"a\r\n0123456789\r\n" * 1000),
        "gzip bomb, 100 MB": page(packed, Content_Encoding="gzip"),
        "gzip bomb in gzip in gzip": page(gzip.compress(gzip.compress(packed)), Content_Encoding="gzip, gzip, gzip"),
        "brotli bomb, 100 MB": page(brotli.compress(zeros, quality=1), Content_Encoding="br"),
        "zstd bomb, 100 MB": page(zstd.compress(zeros), Content_Encoding="zstd"),
        "deflate bomb, 100 MB": page(zlib.compress(zeros), Content_Encoding="deflate"),
        "300 layers of gzip": page(layered(300), Content_Encoding=", ".join(["gzip"] * 300)),
        "800,000 gzip members": page(gzip.compress(gzip.compress(b"") * 800_000), Content_Encoding="gzip, gzip"),
        "15 MB with 700,000 links": page(b"".join(b"<a href=/p%06d>a</a>\n" % number for number in range(700_000))),
        "14 MB with 1.8 million tags": page(b"<p>word " * 1_800_000),
    }


def measured(folder: Path, handler: Handler, timeout_s: float) -> tuple[float, float, float, str]:
    """Return the seconds of the crawl, its largest memory in MB, its processor seconds, and what became of the page."""

    async def respond(exchange: Exchange) -> None:
        if exchange.path == "/":
            await exchange.page(links("/attack"))
        elif exchange.path == "/attack":
            await handler(exchange)
        else:
            await exchange.page(status=404)

    project = Project(folder, DOWNLOAD_TIMEOUT=timeout_s, RETRY_TIMES=0, MAX_LEVEL=1)
    with Web(hostile=respond) as web:
        began, largest_kb, ticks = time.perf_counter(), 0, 0
        run = project.start("crawl", "sitegraph", "-a", f"hosts={web.hosts()}", is_fresh=True)
        while run.is_running:
            try:
                status = Path(f"/proc/{run.pid}/status").read_text("utf-8")
                largest_kb = max(largest_kb, int(status.partition("VmHWM:")[2].split()[0]))
                times = Path(f"/proc/{run.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
                ticks = int(times[11]) + int(times[12])
            except (OSError, IndexError):  # it has just ended
                continue
            time.sleep(10 * LOOK_EVERY_S)
        if run.wait().status:
            raise SystemExit(f"the crawl failed:\n{run.log}")
        state, reason = project.pages(web["hostile"].origin)["/attack"]
    return time.perf_counter() - began, largest_kb / 1024, ticks / TICKS_PER_S, f"{state.name.lower()} {reason}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds of a download at most")
    timeout_s = parser.parse_args().timeout
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    print(f"{'attack':<27}{'seconds':>8}{'MB':>6}{'CPU s':>7}  result")
    for number, (name, handler) in enumerate(attacks().items()):
        site = folder / str(number)
        site.mkdir()
        seconds, megabytes, cpu_s, result = measured(site, handler, timeout_s)
        print(f"{name:<27}{seconds:>8.1f}{megabytes:>6.0f}{cpu_s:>7.1f}  {result}", flush=True)
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
