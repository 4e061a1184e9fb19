"""Crawls many hosts of one page each, served on this machine, and prints what it costs.

python -m bench.scale.many_hosts [--hosts 10000] [--files]

All names resolve to 127.0.0.1. Without --files no graphs and tables are written: they would be five files for each
host.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import Settings

from bench.running import run
from crawlers import settings as defaults
from crawlers.spiders.sitegraph import SiteGraphSpider

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

PAGE = b'<title>Home</title><a href="/">home</a>'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(PAGE)
NO_ROBOTS = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


async def _respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        request = await reader.readuntil(b"\r\n\r\n")
        writer.write(NO_ROBOTS if b"/robots.txt " in request else HEAD + PAGE)
        await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def _serve(ready: Connection) -> None:
    server = await asyncio.start_server(_respond, "127.0.0.1", 0, backlog=1000)
    ready.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _run_server(ready: Connection) -> None:
    asyncio.run(_serve(ready))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.scale.many_hosts", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--files", action="store_true", help="write graphs and tables")
    chosen = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=_run_server, args=(there,), daemon=True)
    server.start()
    port = here.recv()
    socket.gethostbyname = lambda name: "127.0.0.1"
    with tempfile.TemporaryDirectory(prefix="hosts-") as temporary:
        os.chdir(temporary)
        Path("hosts.txt").write_text("".join(f"http://h{n}.test:{port};1;;0\n" for n in range(chosen.hosts)), "utf-8")
        settings = Settings()
        settings.setmodule(defaults)
        own = {"LOG_LEVEL": "WARNING"} | ({} if chosen.files else {"GRAPH_FORMATS": [], "RESULT_TABLES": []})
        settings.update(own, priority="cmdline")
        run(SiteGraphSpider, settings, hosts="hosts.txt")


if __name__ == "__main__":
    main()
