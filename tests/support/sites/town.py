"""A town: four sites that link to each other and change all the time, for broad crawls."""

import random
from collections import Counter
from functools import cache

from tests.support.sites.server import Web, links

PAGES = 8  # of a site
NAMES = ("tagged", "dated", "plain", "far")


class Town:
    """Sites whose pages change at every third request; one names its versions by tags, one by dates, two by nothing.

    One page vanishes, and one moves to another site. The site `far` calls itself localhost, so that it has a domain.
    """

    def __init__(self):
        self.web = Web(**{name: self._site(name) for name in NAMES})
        self.origins = {name: self.web[name].origin for name in NAMES}
        self.origins["far"] = self.origins["far"].replace("127.0.0.1", "localhost")
        self.responses = Counter()  # by status, without those for robots.txt
        self.on_request = None
        self._versions = Counter()
        self.links = cache(self._links)

    def held(self):
        """Respond to nothing until the end of the block."""
        return self.web.held()

    def _links(self, title):
        """The URLs that the page links to in the version that its title names, with their number."""
        rng = random.Random(title)
        ways = [(rng.choice(NAMES), rng.randrange(PAGES)) for _ in range(rng.choice([2, 5, 9]))]
        if "/0 " in title:  # home pages lead everywhere
            ways += [(name, number) for name in NAMES for number in (0, 1)]
        return Counter(f"{self.origins[name]}/{number}" for name, number in ways)

    def _site(self, name):
        async def respond(exchange):
            if exchange.path == "/robots.txt":
                await exchange.page("none", 404)
                return
            if self.on_request is not None:
                self.on_request()
            path = "/0" if exchange.path == "/" else exchange.path
            requests = self._versions[name + path]
            self._versions[name + path] += 1
            status, headers, body = self._answer(name, path, requests // 3, exchange.request.headers)
            self.responses[status] += 1
            await exchange.page(body, status, **headers)

        return respond

    def _answer(self, name, path, version, headers_of_request):
        if path == "/6" and version:
            return 404, {}, "it was here"
        if path == "/7" and name == "plain" and version:
            return 301, {"Location": f"{self.origins['dated']}/7"}, ""
        headers = {}
        if name == "tagged":
            headers["ETag"] = f'"{version}"'
            if headers_of_request.get("if-none-match") == headers["ETag"]:
                return 304, headers, ""
        if name == "dated":
            headers["Last-Modified"] = f"Sat, 0{version % 9 + 1} Jan 2000 00:00:{version // 9 % 60:02} GMT"
            if headers_of_request.get("if-modified-since") == headers["Last-Modified"]:
                return 304, headers, ""
        title = f"{name}{path} version {version}"
        hrefs = [url for url, count in self.links(title).items() for _ in range(count)]
        return 200, headers, links(*hrefs).replace("<title>Links", f"<title>{title}")

    def hosts(self, *names):
        return [f"{self.origins[name]};2;;0" for name in names]
