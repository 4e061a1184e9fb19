"""Every page that links of the panel lead to is accessible, fits its window, and breaks no rule of its own policy."""

from collections import Counter, deque
from pathlib import Path
from urllib.parse import urlsplit

from starlette.routing import Match

from crawlers.web.serving import ROUTES
from tests.support.stored_crawl import CRAWL

AXE = (Path(__file__).parents[2] / "support" / "axe" / "axe.min.js").read_text("utf-8")
VIOLATIONS = """async rules => (await axe.run({resultTypes: ['violations'], ...rules})).violations.flatMap(
    ({id, help, nodes}) => nodes.map(node => `${id}: ${help}: ${node.html.slice(0, 200)}`)
)"""
LINKS = """() => [...document.querySelectorAll('a[href]:not([download])')]
    .filter(link => link.host === location.host).map(link => link.href.split('#')[0])"""
BEYOND_THE_WINDOW = "() => document.documentElement.scrollWidth - innerWidth"
BEYOND_THEIR_FRAMES = """() => [...document.querySelectorAll('.scroll')]
    .filter(frame => frame.scrollWidth > frame.clientWidth).length"""
# Rules; a theme changes nothing but colours, and those of a route are tried once.
THEMES = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
SAMPLES = 2  # pages of one route, but each report and each picture once
NOT_LINKED = {"/login", "/crawls/{crawl:int}/explain/links"}  # needs a password; a part of a page
FILES = {route.path for route in ROUTES if "." in route.path} | {"/crawls/{crawl:int}/file"}


def test_pages_are_accessible_and_fit(page, filled):
    refused = []
    page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
    problems, seen = [], Counter()
    waiting, met = deque([f"{filled}/", f"{filled}/crawls/{CRAWL}/explain?url=http://a.test/a"]), set()
    while waiting:
        url = waiting.popleft()
        path = urlsplit(url).path
        route = route_of(path)
        key, samples = (path, 1) if "{report}" in route or "{picture}" in route else (route, SAMPLES)
        if seen[key] == samples or url in met:
            continue
        met.add(url)
        response = page.goto(url)
        page.wait_for_selector(".empty [data-refresh]", state="detached")  # what is computed in the background
        seen[key] += 1
        seen[route] += key != route
        if response.status != 200:
            problems.append(f"{url}: status {response.status}")
        waiting += [link for link in page.evaluate(LINKS) if link not in met]
        page.evaluate(AXE)
        for theme, rules in list(THEMES.items())[: 1 + (seen[route] == 1)]:
            page.emulate_media(color_scheme=theme)
            problems += [f"{url} ({theme}): {one}" for one in page.evaluate(VIOLATIONS, rules)]
        if page.evaluate(BEYOND_THEIR_FRAMES):
            problems.append(f"{url}: a table is wider than 1280 px")
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            if page.evaluate(BEYOND_THE_WINDOW) > 0:
                problems.append(f"{url}: wider than {width} px")
        page.set_viewport_size({"width": 1280, "height": 800})
    assert not problems, "\n".join(problems)
    assert refused == []
    shown = {route.path for route in ROUTES if "GET" in route.methods} - FILES - NOT_LINKED
    assert shown - set(seen) == set()  # a page that no link leads to is found by nobody


def route_of(path):
    scope = {"type": "http", "path": path, "method": "GET", "headers": [], "root_path": ""}
    found = [route.path for route in ROUTES if route.matches(scope)[0] is Match.FULL]
    assert found, path
    return found[0]
