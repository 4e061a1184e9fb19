"""The misbehaving site: errors, empty and huge responses, broken hrefs, private folders.

Its functions are pure; the server adds that `/flaky/N` fails at first, see `flaky_refusal`.
"""

from __future__ import annotations

import gzip
import re
from functools import cache
from typing import TYPE_CHECKING

from examples.webs.pages import HTML, link, links, missing, page, redirect, typed
from examples.webs.prose import paragraphs, title

if TYPE_CHECKING:
    from examples.webs.pages import Web, WebResponse

ORDINARY = 20
FLAKY = 6
MANY = 2_000
BIG_BYTES = 3_000_000
CHAIN = 30  # more hops than browsers (20) and Scrapy's REDIRECT_MAX_TIMES (20) follow

ROBOTS = "User-agent: *\nDisallow: /private/\nCrawl-delay: 0.05\n"

# Raw attribute text (already escaped) of hrefs, and whether it leads to this site.
HREFS: tuple[tuple[str, bool], ...] = (
    ("http://[::1", False),
    ("http://[::1]:99999/", False),
    ("http://exa mple.example/", False),
    ("http://port.example:99999/", False),
    ("http://port.example:http/", False),
    ("http://", False),
    ("http:///", False),
    ("//", False),
    ("http://a..b.example/", False),
    ("http://%zz.example/", False),
    ("javascript:void(0)", False),
    ("JavaScript:alert(1)", False),
    (" java&#10;script:alert(1)", False),
    ("mailto:nobody@grumpy.example", False),
    ("tel:+1-555-0100", False),
    ("data:text/html,&lt;a href=/data.html&gt;x&lt;/a&gt;", False),
    ("ftp://ftp.example/file", False),
    ("file:///etc/hostname", False),
    ("blob:nothing", False),
    ("http://bücher.example/", False),
    ("http://xn--bcher-kva.example/ü?q=ü", False),
    ("http://host.example/%", False),
    ("HTTP://UPPER.EXAMPLE/A", False),
    ("//scheme-relative.example/x", False),
    ("http://user:word@login.example/", False),
    ("", True),
    ("#", True),
    ("?", True),
    (" /ok/2.html ", True),
    ("&#10;/ok/&#9;3.html", True),
    ("/ok/../ok/./4.html", True),
    ("../../../ok/5.html", True),
    ("/ok/6.html#a#b", True),
    ("/ok/7 8.html", True),  # a space in the path: a 404
    ("\\ok\\9.html", True),  # browsers read a backslash as a slash
)

_PLAIN: dict[str, tuple[int, str, bytes, dict[str, str]]] = {
    "/gone": (410, HTML, b"Gone for good.", {}),
    "/forbidden": (403, HTML, b"No entry.", {}),
    "/broken": (500, HTML, b"Out of order.", {}),
    "/busy": (503, HTML, b"Later.", {"Retry_After": "1"}),
    "/hurried": (429, HTML, b"Not so fast.", {"Retry_After": "1"}),
    "/teapot": (418, HTML, b"Short and stout.", {}),
    "/empty.html": (200, HTML, b"", {}),
    "/blank.html": (200, HTML, b" \n\n ", {}),
    "/gzip-lie.html": (200, HTML, b"<title>Not gzip at all</title>", {"Content_Encoding": "gzip"}),
    "/files/paper.pdf": (200, "application/pdf", b"%PDF-1.4\n%%EOF\n", {}),
    "/files/photo.jpg": (200, "image/jpeg", b"\xff\xd8\xff\xe0JFIF\xff\xd9", {}),
    "/files/all.zip": (200, "application/zip", b"PK\x05\x06" + bytes(18), {}),
}
CHARSETS = {
    "/charset/nonsense.html": "x-nonsense",
    "/charset/utf-9.html": "utf-9",
    "/charset/quoted.html": '"utf-8',
}
_MOVES = {
    "/redirect/nowhere": "",
    "/redirect/bad": "http://[::1",
    "/redirect/mail": "mailto:nobody@grumpy.example",
    "/redirect/script": "javascript:alert(1)",
    "/redirect/private": "/private/2.html",
    "/redirect/file": "/files/paper.pdf",
}
_SPECIAL = (
    "/hrefs.html",
    "/many.html",
    "/big.html",
    "/gzip.html",
    "/nul.html",
    "/nested.html",
    "/files.html",
)
_SOFT = ("/soft/", "/soft/lost.html", "/soft/also-lost.html")


def flaky_refusal(path: str, times_seen: int) -> WebResponse | None:
    """Return the 503 of the first visit to /flaky/N (Retry-After: N % 2), otherwise None.

    *times_seen* is the number of previous requests for the path. This is the only state.
    """
    found = re.fullmatch(r"/flaky/(\d{1,6})", path)
    if not found or times_seen:
        return None
    return typed(HTML, b"Come again.", 503, Retry_After=str(int(found[1]) % 2))


@cache
def _big() -> bytes:
    start = f"<!DOCTYPE html><title>A big page</title>{link('/ok/10.html', 'at the top')}".encode()
    end = link("/ok/11.html", "at the bottom").encode()
    filler = paragraphs("grumpy big", 20).encode()
    room = BIG_BYTES - len(start) - len(end)
    return start + (filler * (room // len(filler) + 1))[:room].rsplit(b"<", 1)[0].ljust(room) + end


def _many() -> str:
    inside = (f"/ok/{n % ORDINARY + 1}.html#part-{n}" for n in range(MANY // 2))
    outside = (f"http://host-{n % 37}.example/p{n}" for n in range(MANY // 2))
    return "\n".join(link(href, f"no. {n}") for n, href in enumerate([*inside, *outside]))


def _special(web: Web, path: str) -> WebResponse:
    main = paragraphs(f"grumpy {path}", 2)
    match path:
        case "/hrefs.html":
            main += "\n".join(f'<a href="{raw}">bad {n}</a>' for n, (raw, _) in enumerate(HREFS))
            main += "<a>no href</a><a href>no value</a><a name=x>a name</a>"
        case "/many.html":
            main += _many()
        case "/nested.html":
            main += "<div>" * 3_000 + link("/ok/12.html", "at the ground")
        case "/files.html":
            main += links(["/files/paper.pdf", "/files/photo.jpg", "/files/all.zip", "/files/PAPER.PDF?x=1"])
        case "/big.html":
            return typed(HTML, _big())
    whole = page(web, "grumpy", path, f"Grumpy: {path}", main)
    if path == "/gzip.html":
        return typed(HTML, gzip.compress(whole.body, mtime=0), Content_Encoding="gzip")
    return typed(HTML, whole.body.replace(b" the ", b" \x00the ")) if path == "/nul.html" else whole


def _home() -> str:
    ordinary = [f"/ok/{n}.html" for n in (1, 13, 14, 20)]
    flaky = [f"/flaky/{n}" for n in range(1, FLAKY + 1)]
    fixed = [
        "/missing",
        *_PLAIN,
        *CHARSETS,
        *_MOVES,
        *_SPECIAL,
        *_SOFT,
        "/private/1.html",
        f"/chain/{CHAIN}",
        "/grow?n=1",
    ]
    return links([*ordinary, *flaky, *(path for path in fixed if not path.startswith("/files/"))])


def _numbered(path: str) -> tuple[str, str] | None:
    """Return title and links of /ok/N.html, /private/N.html and /flaky/N, N from 1 to `ORDINARY`."""
    found = re.fullmatch(r"/(?:(ok|private)/([1-9]\d?)\.html|(flaky)/([1-9]\d?))", path)
    number = int(found[2] or found[4]) if found else 0
    if not found or number > ORDINARY:
        return None
    main = links([f"{number % ORDINARY + 1}.html"]) if found[1] else ""
    return f"{found[1] or found[3]}: {title(f'grumpy {path}', number)}", main


def _moved(path: str, query: str) -> WebResponse | None:
    if path in _MOVES:
        return redirect(_MOVES[path]) if _MOVES[path] else typed(HTML, b"Moved.", 302)
    if path == "/grow":
        grown = re.fullmatch(r"n=(\d{1,9})", query)
        return redirect(f"/grow?n={int(grown[1]) + 1 if grown else 1}")
    found = re.fullmatch(r"/chain/([1-9]\d?)", path)
    return redirect(f"/chain/{int(found[1]) - 1}") if found else None


def respond(web: Web, path: str, query: str) -> WebResponse:
    """Return the site's response to a patient visitor; *query* counts for /grow only."""
    if moved := _moved(path, query):
        return moved
    if path in _PLAIN:
        status, content_type, body, more = _PLAIN[path]
        return typed(content_type, body, status, **more)
    if path in _SPECIAL:
        return _special(web, path)
    if path.startswith("/soft/"):
        return page(web, "grumpy", "soft", "Page not found", "<p>Sorry, there is nothing here.</p>")
    fixed = {"/": ("Grumpy", _home()), "/chain/0": ("The chain's end", "")}
    fixed |= {key: (f"Charset {value}", "") for key, value in CHARSETS.items()}
    named = fixed.get(path) or _numbered(path)
    if named is None:
        return missing()
    whole = page(web, "grumpy", path, named[0], paragraphs(f"grumpy {path}", 2) + named[1], hosts=1)
    return typed(f"text/html; charset={CHARSETS[path]}", whole.body) if path in CHARSETS else whole
