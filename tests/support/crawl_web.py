"""The demo web, served by a thread of the test's process, so that a test sees each request as it arrives.

Besides the demo sites there are `corner`, a site of edge cases, and `dead`, which has a port without a listener.
Responses depend only on the URL; the pace can be varied.
"""

import asyncio
import gzip
from collections import Counter
from functools import cache

from examples.webs import Web, archive, respond
from examples.webs.pages import WebResponse, redirect, typed
from tests.support.sites import server

DEMO = ("library", "faculty", "mirror", "archive")
ALL = (*DEMO, "corner", "dead")

_CORNER = {
    "/robots.txt": typed("text/plain", b"User-agent: *\nDisallow: /secret/\n"),
    "/": typed(
        "text/html",
        b"""<title>Corner</title> <a href="a.html">a</a> <a href="b.html?utm_source=x&amp;z=1">b</a>
        <a href="mailto:a@b.example">mail</a> <a href="http://[::1">bad</a> <a href="http://[::1">bad</a>
        <a href="secret/x.html">secret</a> <a href="error.html">error</a> <a href="text">text</a>
        <a href="paper.pdf">pdf</a> <a href="go1">go</a> <a href="http://other.example/">other</a>""",
    ),
    "/a.html": typed(
        "text/html",
        b"""<title>A</title> <a href="b.html?z=1&amp;utm_source=y">b</a> <a href="/">up</a>
        <a href="paper.pdf">pdf</a> <a href="go1">go</a> <a href="http://:x/">bad</a>""",
    ),
    "/b.html": typed("text/html", b'<title>B</title> <a href="a.html">a</a> <a href="missing.html">?</a>'),
    "/end.html": typed("text/html", b'<title>End</title> <a href="javascript:void(0)">bad</a>'),
    "/text": typed("text/plain", b"no page"),
    "/error.html": WebResponse(500, (("Content-Type", "text/html"),), b"an error"),
    "/go1": redirect("/go2", 302),
    "/go2": redirect("/end.html", 301),
    "/sitemap.xml": typed(
        "application/xml",
        b"<sitemapindex><sitemap><loc>/map1.xml.gz</loc></sitemap><sitemap><loc>/map2.xml</loc></sitemap>"
        b"<sitemap><loc>/map3.xml</loc></sitemap><sitemap><loc>/secret/map.xml</loc></sitemap></sitemapindex>",
    ),
    "/map1.xml.gz": typed(
        "application/gzip",
        gzip.compress(
            b"<urlset><url><loc>/a.html</loc><lastmod>2026-11-01</lastmod></url><url><loc>/orphan.html</loc></url>"
            b"<url><loc>http://other.example/</loc></url></urlset>",
            mtime=0,
        ),
    ),
    "/map2.xml": typed("text/xml", b"<urlset><url><loc>/orphan.html</loc></url><url><loc>/go1</loc></url></urlset>"),
}


class WatchedWeb:
    """A web of the sites *names*, served during the `with` block.

    *pace* returns the delay of the response to a URL in seconds; *on_request*, if set, is called in the server's
    thread when a request has arrived, before the response.
    """

    def __init__(self, names=DEMO, scale=1, pace=lambda url: 0.0):
        self.counts = Counter()
        self.on_request = None
        self.pace = pace
        self._served = server.Web(**{name: None if name == "dead" else self._site(name) for name in names})
        self.origins = {name: site.origin for name, site in self._served.sites.items()}
        self.web = Web(scale, {**Web().origins, **self.origins})
        self._cached = cache(self._respond)

    def hosts(self, *names, parallel=8):
        """Return lines of hosts.txt for *names*, or for all, without delays; the endless site has few levels."""
        levels = {"archive": archive.LEVELS}
        return [f"{self.origins[name]};{parallel};{levels.get(name, '')};0" for name in names or self.origins]

    @property
    def requests(self):
        return self.counts.total()

    def __enter__(self):
        self._served.__enter__()
        return self

    def __exit__(self, *exit_):
        self._served.__exit__(*exit_)

    def held(self):
        """Respond to nothing until the end of the block."""
        return self._served.held()

    def _site(self, name):
        async def handle(exchange):
            url = self.origins[name] + exchange.path
            self.counts[url] += 1
            if self.on_request is not None:
                self.on_request()
            pause_s = self.pace(url)
            if pause_s:
                await asyncio.sleep(pause_s)
            response = self._cached(name, exchange.path)
            headers = {header.replace("-", "_"): value for header, value in response.headers}
            await exchange.page(response.body, response.status, content_type="", **headers)

        return handle

    def _respond(self, name, raw_path):
        path, _, query = raw_path.partition("?")
        if name == "corner":
            return _CORNER.get(path) or typed("text/html", b"nothing here", 404)
        return respond(name, path, query, self.web)
