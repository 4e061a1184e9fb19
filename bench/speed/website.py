"""A web site to measure on: pages of 20 kB with 68 links each, as documentation sites have them; 1,000 of them.

python -m bench.speed.website [PAGES]       prints its address, serves until its standard input closes
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = 1000
MENU = 48  # links that a section's pages have in common
BODY = 20  # links of its own
WORDS = ("crawl", "page", "link", "graph", "level", "site", "robot", "queue", "text", "index", "host", "score", "order")


def paths_of(pages: int) -> list[str]:
    """Return the paths of a site, in the order of its pages."""
    return ["/", *(f"/section-{n // 50}/page-{n}.html" for n in range(1, pages))]


def body_of(number: int, paths: list[str]) -> bytes:
    """Return the page at `paths[number]`, a function of its arguments, so that every run serves the same."""
    chance = random.Random(number)
    section = number // 50 * 50
    menu = [paths[(section + n) % len(paths)] for n in range(MENU)]
    own = [paths[min(number * 3 + n, len(paths) - 1)] for n in range(1, 4)] + chance.choices(paths, k=BODY - 3)
    items = "".join(f'<li class="toc"><a class="reference" href="{p}">Page {p}</a></li>' for p in menu)
    text = "".join(f"<p>{' '.join(chance.choices(WORDS, k=100))} <a href='{p}#part'>{p}</a></p>\n" for p in own)
    return (
        f"<!DOCTYPE html><html><head><meta charset='utf-8'><title>Page {number}</title></head>"
        f"<body><nav><ul>{items}</ul></nav><main><h1>Page {number}</h1>{text}</main>"
        f"<footer>Made for measuring</footer></body></html>"
    ).encode()


def make_pages() -> dict[str, bytes]:
    """Return the pages of a site of `PAGES` by their paths."""
    paths = paths_of(PAGES)
    return {path: body_of(number, paths) for number, path in enumerate(paths)}


async def _serve(pages: int) -> None:
    paths = paths_of(pages)
    numbers = {path: number for number, path in enumerate(paths)}

    async def respond(request: web.BaseRequest) -> web.Response:
        number = numbers.get(request.path)
        if number is None:
            return web.Response(status=404, text="no such page")
        return web.Response(body=body_of(number, paths), content_type="text/html", charset="utf-8")

    runner = web.ServerRunner(web.Server(respond, access_log=None))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


@contextmanager
def serve(pages: int = PAGES) -> Iterator[str]:
    """The address of the site, served by a process of its own."""
    command = [sys.executable, "-m", "bench.speed.website", str(pages)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]) if len(sys.argv) > 1 else PAGES))
