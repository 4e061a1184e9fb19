"""The site of duplicates: one content under many URL variants, and copies at other URLs.

There are two kinds. *Variants* (order of the query, utm_*, sid, empty parameters, double slashes, a missing
trailing slash) are normalised by `key_of` before anything else, so that all variants of a key give the same
bytes. *Copies* have different keys and the same bytes: index.html, print versions, front pages, an old
archive. A page that has variants contains no relative link; a copy may, and then its relative links resolve
to other targets than those of the original.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from examples.webs.pages import links, missing, page, redirect
from examples.webs.prose import paragraphs, rng_of, title

if TYPE_CHECKING:
    from examples.webs.pages import Web, WebResponse

OLD_SHELVES = 7  # depth of the old archive below the home page


def _articles(web: Web) -> int:
    return 30 * web.scale


def key_of(path: str, query: str) -> tuple[str, str]:
    """Return the canonical variant of a URL: path and query.

    >>> key_of("//article//7", "utm_source=x&b=2&a=1&c=&sid=9")
    ('/article/7/', 'a=1&b=2')
    """
    path = re.sub("/+", "/", path or "/")
    if "." not in path.rpartition("/")[2] and not path.endswith("/"):
        path += "/"
    pairs = sorted((k, v) for k, v in parse_qsl(query) if not k.startswith("utm_") and k != "sid")
    return path, urlencode(pairs, errors="replace")


def _variant(web: Web, page_path: str, number: int, which: int) -> str:
    """Return one of eight URL variants of an article; the page generates the session id."""
    path = f"/article/{number}"
    session = rng_of(f"sid {page_path}").getrandbits(48)
    return (
        f"{path}/",
        path,
        f"{path}/?utm_source=mirror&utm_medium=web",
        f"{web.origins['mirror']}//article//{number}/",
        f"{path}?sid={session:012x}",
        f"{path}/?ref=&sid={session:012x}",
        f"/article///{number}//?utm_campaign=spring",
        f"{path}.html",
    )[which % 8]


def _home(web: Web) -> list[str]:
    own = ["/index.html", "/docs/", "/docs/index.html", "/docs", f"{web.origins['mirror']}//docs//index.html"]
    lists = ["/list?a=1&b=2", "/list?b=2&a=1", "/list/?a=1&b=2&c=", "/list?a=2&b=1", "/list", "/list?sid=77"]
    return [*own, *lists, "/front.html", "/front-again.html", "/old/1/", "/read/1.html"]


def _article(web: Web, number: int) -> list[str]:
    key, count = f"/article/{number}/", _articles(web)
    rng = rng_of(f"mirror links {number}")
    found = [_variant(web, key, rng.randrange(count), rng.randrange(8)) for _ in range(6)]
    found.append(_variant(web, key, (number + 1) % count, 4))
    if number % 3 == 1:
        found += [f"/print/{number}.html", f"/read/{number}.html", f"/print/{number}.html?utm_source=print"]
    return found


def _list(web: Web, query: str) -> list[str]:
    start = {"a=1&b=2": 0, "a=2&b=1": 5, "": 10}.get(query)
    return [] if start is None else [_variant(web, f"/list/?{query}", start + k, k) for k in range(5)]


def _copy(web: Web, path: str) -> str:
    """Return the path whose content this path shows: the path itself, unless it is a copy."""
    fixed = {
        "/index.html": "/",
        "/docs/index.html": "/docs/",
        "/front.html": "/article/3/",  # on level 1, while article 3 itself is deeper
        "/front-again.html": "/article/3/",
        f"/old/{OLD_SHELVES}/index.html": f"/old/{OLD_SHELVES}/",
        f"/old/{OLD_SHELVES}/copy.html": "/article/4/",  # far below article 4 itself
    }
    if path in fixed:
        return fixed[path]
    found = re.fullmatch(r"/print/(\d{1,6}\.html)", path)
    return f"/read/{found[1]}" if found else path


def _main(web: Web, path: str, query: str) -> list[str] | None:
    """Return the links of the page with that key (of the original, for a copy), or None if there is none."""
    if path == "/":
        return _home(web)
    if path == "/docs/":
        # Dot segments are resolved before the request, so they do not create variants.
        return ["/docs/../article/3/", "/docs/./index.html", "/article/./4/?utm_term=dots", "/list?page=1"]
    if path == "/list/":
        return _list(web, query)
    if found := re.fullmatch(r"/article/(0|[1-9]\d{0,5})/", path):
        return _article(web, int(found[1])) if int(found[1]) < _articles(web) else None
    if found := re.fullmatch(r"/read/(0|[1-9]\d{0,5})\.html", path):
        number = int(found[1])
        # These links are relative: /print/7.html leads to other pages than /read/7.html.
        return [f"notes/{number}.html", "./"] if number < _articles(web) and number % 3 == 1 else None
    if found := re.fullmatch(r"/(read|print)/(notes/(\d{1,6})\.html)?", path):
        return ["/"] if not found[3] or (int(found[3]) < _articles(web) and int(found[3]) % 3 == 1) else None
    if found := re.fullmatch(r"/old/([1-9])/", path):
        shelf = int(found[1])
        if shelf == OLD_SHELVES:
            return [f"/old/{shelf}/index.html", f"/old/{shelf}/copy.html"]
        return [f"/old/{shelf + 1}/?utm_source=old"] if shelf < OLD_SHELVES else None
    return None


def respond(web: Web, path: str, query: str) -> WebResponse:
    """Return the mirror's response: a function of `key_of` alone."""
    path, query = key_of(path, query)
    if found := re.fullmatch(r"/article/(0|[1-9]\d{0,5})\.html", path):
        return redirect(f"/article/{found[1]}/", 301)
    shown = _copy(web, path)
    hrefs = _main(web, shown, query)
    if hrefs is None:
        return missing()
    seed = f"{shown}?{query}" if shown == "/list/" else shown
    number = int("0" + "".join(re.findall(r"\d", seed))[-4:])
    name = title(f"mirror {seed}", number) if number else f"The mirror: {seed}"
    return page(web, "mirror", seed, name, paragraphs(f"mirror {seed}", 2) + links(hrefs))
