"""The building blocks of the demo web: its size and origins, responses, and the frame of a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Literal

from examples.webs.prose import NOUNS, rng_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Site = Literal["library", "faculty", "mirror", "archive", "babel", "grumpy"]

HTML = "text/html; charset=utf-8"

# Pages that exist at every scale: targets of cross-site links other than home pages.
LANDMARKS: Mapping[Site, tuple[str, ...]] = {
    "library": ("/", "/comet-1/", "/heron-2/", "/heron-2/kettle-9/"),
    "faculty": ("/", "/staff/", "/staff/person-3.html", "/courses/", "/map.html", "/go/5"),
    "mirror": ("/", "/index.html", "/article/3/", "/article/5", "/list?b=2&a=1", "/print/4.html"),
    "archive": ("/", "/records/7.html", "/records/23.html", "/calendar/2024-05/"),
    "babel": ("/", "/koi8-r-header.html", "/shift_jis-meta.html"),
    "grumpy": ("/", "/ok/1.html", "/ok/4.html", "/missing", "/private/1.html"),
}


def _names() -> Mapping[str, str]:
    return {name: f"http://{name}.test" for name in LANDMARKS}


@dataclass(frozen=True, slots=True)
class Web:
    """The size of the web (*scale*, 1 or more) and where its sites are (scheme://host[:port])."""

    scale: int = 1
    origins: Mapping[str, str] = field(default_factory=_names)


@dataclass(frozen=True, slots=True)
class WebResponse:
    """The response of a site; the server adds only Date, Server and Content-Length."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        """Return the value of header *name*, or "" if there is none."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")


def typed(content_type: str, body: bytes, status: int = 200, **more: str) -> WebResponse:
    """Return a response of that type; *more* headers have `_` for `-`; an empty type sends no Content-Type."""
    headers = (("Content-Type", content_type),) if content_type else ()
    return WebResponse(status, headers + tuple((key.replace("_", "-"), value) for key, value in more.items()), body)


def redirect(location: str, status: int = 302) -> WebResponse:
    """Return a redirect whose Location header is *location*, unchecked."""
    return typed(HTML, b"<!DOCTYPE html><title>Moved</title>Moved.", status, Location=location)


def missing() -> WebResponse:
    """Return the 404 response of every site for an unknown path."""
    return typed(HTML, b"<!DOCTYPE html><title>Not found</title><h1>Not found</h1>", 404)


def link(href: str, text: str) -> str:
    """Return an `a` element; both arguments are plain text."""
    return f'<a href="{escape(href)}">{escape(text)}</a>'


def links(hrefs: Iterable[str]) -> str:
    """Return a list of links whose texts are their addresses."""
    return "<ul>" + "".join(f"<li>{link(href, href)}</li>" for href in hrefs) + "</ul>"


def cross_site_links(web: Web, site: Site, seed: str, hosts: int = 0) -> str:
    """Return up to four links to pages of other sites and *hosts* links to hosts that do not exist."""
    rng = rng_of("elsewhere " + seed)
    others = [name for name in LANDMARKS if name != site]
    found = []
    for _ in range(rng.randrange(5)):
        other = rng.choice(others)
        found.append(web.origins[other] + rng.choice(LANDMARKS[other]))
    # RFC 2606: no host of .example is ever registered, so a demo crawl cannot reach real sites.
    found += [f"http://{rng.choice(NOUNS)}-{rng.randrange(50)}.example/{rng.randrange(999)}" for _ in range(hosts)]
    return links(found) if found else ""


def document(
    web: Web, site: Site, seed: str, title: str, main: str, *, head: str = "", trail: str = "", hosts: int = 0
) -> str:
    """Return a whole page: header, *trail* (HTML of the breadcrumbs), *main* (HTML), aside, footer.

    *title* is plain text, *head* further HTML for the head, *hosts* see `cross_site_links`.
    """
    others = " ".join(link(web.origins[name] + "/", f"The {name}") for name in LANDMARKS if name != site)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}<title>{escape(title)}</title></head>\n<body>'
        f"<header>{link('/', 'The ' + site)}</header>\n<nav>{trail}</nav>\n"
        f"<main><h1>{escape(title)}</h1>\n{main}\n</main>\n"
        f"<aside>{cross_site_links(web, site, seed, hosts)}</aside>\n"
        f"<footer>{link('/', 'Home')} | Our friends: {others}</footer></body></html>\n"
    )


def page(
    web: Web, site: Site, seed: str, title: str, main: str, *, head: str = "", trail: str = "", hosts: int = 0
) -> WebResponse:
    """Return `document` as a response in UTF-8, declared by header and by meta."""
    head = '<meta charset="utf-8">' + head
    text = document(web, site, seed, title, main, head=head, trail=trail, hosts=hosts)
    return typed(HTML, text.encode())
