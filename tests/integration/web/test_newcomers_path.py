"""From a crawl to its graph on the screen, as a newcomer finds the way: at most five clicks."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time

from PIL import Image

from tests.support.processes import PATIENCE_S, ROOT
from tests.support.sites.server import Web, links

MOST_CLICKS = 5
PAGES = 40


async def site(exchange):
    """A tree of pages, in which each one links to two further ones and back to the first."""
    name = exchange.path[1:] or "0"
    if not name.isdecimal():
        await exchange.page("", status=404)
        return
    number = int(name)
    further = [f"/{other}" for other in (2 * number + 1, 2 * number + 2) if other < PAGES]
    await exchange.page(f"<p>Page {number}</p>" + links("/", *further))


def test_graph_is_on_the_screen_after_few_clicks(page, panel, tmp_path):
    begun = time.monotonic()
    with Web(site=site) as web:
        (tmp_path / "hosts.txt").write_text(f"{web['site'].origin};8;;0\n", "utf-8")
        subprocess.run(
            [sys.executable, "-m", "scrapy", "crawl", "sitegraph", "-a", "hosts=hosts.txt", "-s", "LOG_LEVEL=ERROR"],
            cwd=tmp_path,
            env={**os.environ, "SCRAPY_SETTINGS_MODULE": "crawlers.settings", "PYTHONPATH": str(ROOT)},
            check=True,
            timeout=PATIENCE_S,
            capture_output=True,
        )
    crawled = time.monotonic()
    page.goto(panel)
    clicks = 0
    for name in ("sitegraph", "Graph"):
        page.get_by_role("link", name=name, exact=True).first.click()
        clicks += 1
    page.wait_for_selector("#map[data-ready]")
    assert page.get_by_text(f"All {PAGES} nodes").is_visible()
    picture = Image.open(io.BytesIO(page.locator("#map").screenshot())).convert("RGB")
    shown = {colour for _, colour in picture.getcolors(maxcolors=picture.width * picture.height)}
    legend = page.locator("#legend circle").first.get_attribute("fill")
    assert tuple(bytes.fromhex(legend[1:])) in shown  # nodes are drawn, in the colours of the legend
    assert clicks <= MOST_CLICKS
    took, later = crawled - begun, time.monotonic() - crawled
    print(f"{PAGES} pages were crawled in {took:.1f} s; {clicks} clicks, {later:.1f} s: the graph is on the screen")
