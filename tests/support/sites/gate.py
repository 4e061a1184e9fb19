"""A site that waits until the test lets its pages out."""

import asyncio
import threading

from tests.support.sites.server import links

PAGES = 300
SLOW_S = 0.1  # of a page while the gate is ajar: all of them take far longer than a worker needs to hear of a stop


class Gate:
    """A site whose pages beyond the first two wait until the test opens the gate: for a few of them, or for all."""

    def __init__(self):
        self.is_ajar, self.is_open = threading.Event(), threading.Event()

    async def __call__(self, exchange):
        if exchange.path in ("/robots.txt", "/sitemap.xml"):
            await exchange.page("", content_type="text/plain")
            return
        while not self.is_open.is_set() and exchange.path not in ("/", "/0"):
            await asyncio.sleep(SLOW_S)
            if self.is_ajar.is_set():
                break
        await exchange.page(links(*(f"/{number}" for number in range(PAGES))))
