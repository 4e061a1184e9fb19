"""The old-fashioned site: frames, image maps, meta refresh, base href, and all kinds of redirects.

It has no links inside noframes, iframe or textarea, because parsers disagree about those.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from examples.webs.pages import HTML, link, links, missing, page, redirect, typed
from examples.webs.prose import paragraphs, title

if TYPE_CHECKING:
    from collections.abc import Callable

    from examples.webs.pages import Web, WebResponse

COURSES = 8
LECTURES = 7  # a chain of links: the last one is on level 9
ROOMS = 6

# Target and status of each redirect; `{library}` is the origin of that site.
REDIRECTS: dict[str, tuple[int, str]] = {
    "/staff": (301, "/staff/"),
    "/courses": (302, "courses/"),
    "/frames": (301, "{faculty}/frames/"),
    "/index.html": (301, "/"),
    "/go/5": (301, "/go/4"),
    "/go/4": (302, "3"),
    "/go/3": (303, "{faculty}/go/2"),
    "/go/2": (307, "./1"),
    "/go/1": (308, "../go/end.html"),
    "/shortcut": (302, "/courses/course-7/lecture-6.html"),
    "/dean": (303, "/staff/person-0.html#office"),
    "/loop/a": (302, "/loop/b"),
    "/loop/b": (301, "/loop/a"),
    "/loop/self": (307, "/loop/self"),
    "/loop/into": (308, "/loop/a"),
    "/off": (302, "{library}/heron-2/"),
    "/off/again": (301, "/off"),
    "/gone-away": (301, "/no-such-page.html"),
    "/lost": (302, ""),
}

REFRESHES = {
    "/welcome.html": "0; url=/refresh/a.html",
    "/refresh/a.html": "5;URL='b.html'",
    "/refresh/b.html": "1, url=/refresh/ring.html",
    "/refresh/ring.html": "10; URL=/welcome.html",
    "/refresh/self.html": "30",
    "/refresh/abroad.html": "0; url={mirror}/article/3/",
}

# The base elements in the head, and relative links of the page.
BASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "/base/root.html": ('<base href="/staff/">', ("person-1.html", "person-2.html")),
    "/base/relative.html": ('<base href="../rooms/x/y">', ("../room-1.html", "hidden.html")),
    "/base/two.html": ('<base href="/rooms/"><base href="/staff/">', ("room-2.html", "room-5.html")),
    "/base/target.html": ('<base target="_top">', ("only-by-base-target.html",)),
    "/base/full.html": ('<base href="{faculty}/base/deep/">', ("down.html", "../root.html", "?q=1", "#here")),
    "/base/abroad.html": ('<base href="{archive}/records/">', ("3.html", "4.html")),
}
_LEAVES = ("/rooms/x/hidden.html", "/base/only-by-base-target.html", "/base/deep/down.html", "/base/deep/")
_FRAMES = ("/frames/menu.html", "/frames/content.html", "/frames/banner.html", "/news/latest.html")


def _place(web: Web, text: str) -> str:
    return text.format(**{str(name): origin for name, origin in web.origins.items()})


def _people(web: Web) -> int:
    return 40 * web.scale


def _home(web: Web) -> str:
    hidden = '<!-- <a href="/commented-out.html">no link</a> -->'
    hidden += '<script>var a = "<a href=/scripted.html>";</script>'
    pages = ["/map.html", "/frames", "/news/", "/refresh/self.html", "/refresh/abroad.html", "/welcome.html"]
    return hidden + links([*pages, *BASES, *REDIRECTS])


def _map(web: Web) -> str:
    areas = "".join(
        f'<area shape="rect" coords="{x * 10},0,{x * 10 + 9},9" href="rooms/room-{x}.html" alt="Room {x}">'
        for x in range(1, ROOMS + 1)
    )
    areas += '<area nohref alt="Wall">'
    return f'<img src="/plan.png" usemap="#plan" alt="Plan"><map name="plan">{areas}</map>'


def _frameset() -> WebResponse:
    frames = '<frame src="menu.html"><frameset rows="90,*"><frame src="/frames/banner.html">'
    frames += '<frame src="content.html" name="content"></frameset><frame>'
    frames += "<noframes>No frames.</noframes>"
    head = "<html><head><title>Frames</title></head>"
    return typed(HTML, f'{head}<frameset cols="20%,80%">{frames}</frameset></html>'.encode())


def _fixed(web: Web) -> dict[str, Callable[[], str]]:
    return {
        "/": lambda: _home(web),
        "/map.html": lambda: _map(web),
        "/news/": lambda: '<iframe src="latest.html" title="News">No iframes.</iframe><iframe></iframe>',
        "/staff/": lambda: links(f"person-{n}.html" for n in range(0, _people(web), 4)),
        "/courses/": lambda: links(f"course-{n}/" for n in range(COURSES)),
        "/go/end.html": lambda: links(["../staff/", "/dean"]),
        "/frames/menu.html": lambda: link("under/deep.html", "deep").replace("<a ", '<a target="content" '),
        "/frames/under/deep.html": lambda: link("/", "out of the frame"),
    }


def _course(web: Web, course: int, lecture: int) -> str | None:
    if course >= COURSES or lecture > LECTURES:
        return None
    teacher = link(f"/staff/person-{course * 5}.html", "the teacher")
    return teacher + (links([f"lecture-{lecture + 1}.html"]) if lecture < LECTURES else "")


def _main(web: Web, path: str) -> str | None:
    """Return the part of the page other than its prose, or None if there is no such page."""
    fixed = _fixed(web).get(path)
    if fixed:
        return fixed()
    if path in BASES:
        return links(BASES[path][1])
    if path in REFRESHES or path in _LEAVES or path in _FRAMES:
        return link("/", "home")
    if found := re.fullmatch(r"/staff/person-(0|[1-9]\d{0,6})\.html", path):
        person = int(found[1])
        # Three of four people are linked only from their neighbours.
        return (
            links([f"person-{person + 1}.html"])
            if person + 1 < _people(web)
            else ("" if person < _people(web) else None)
        )
    if found := re.fullmatch(r"/rooms/room-([1-9])\.html", path):
        return link("/map.html", "plan") if int(found[1]) <= ROOMS else None
    if found := re.fullmatch(r"/courses/course-(\d)/(?:lecture-([1-9])\.html)?", path):
        return _course(web, int(found[1]), int(found[2] or 0))
    return None


def respond(web: Web, path: str, query: str) -> WebResponse:
    """Return the faculty's response; the query is ignored."""
    if path in REDIRECTS:
        status, target = REDIRECTS[path]
        location = _place(web, target)
        return redirect(location, status) if location else typed(HTML, b"Moved, but nobody knows where.", status)
    if path == "/frames/":
        return _frameset()
    main = _main(web, path)
    if main is None:
        return missing()
    head = _place(web, BASES[path][0]) if path in BASES else ""
    if path in REFRESHES:
        head += f'<meta http-equiv="Refresh" content="{_place(web, REFRESHES[path])}">'
    number = int("0" + "".join(re.findall(r"\d", path))[-4:])
    name = title(f"faculty {path}", number) if number else f"The faculty: {path}"
    prose = paragraphs(f"faculty {path}", 2)
    return page(web, "faculty", path, name, f"{prose}\n{main}", head=head, hosts=2 if "/person-" in path else 0)
