"""The endless site: sixty real records among a calendar, a folder inside itself, and session ids."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from examples.webs.pages import link, links, missing, page
from examples.webs.prose import paragraphs, title

if TYPE_CHECKING:
    from examples.webs.pages import Web, WebResponse

RECORDS = 60
DESKS = 12  # pages of the reading room: real, but each has endlessly many URLs
DAYS = 28
LEVELS = 9  # enough to read all records; the traps would go on until a crawl has evidence enough to cut them


def _home() -> str:
    return links(["/calendar/2024-05/", "/deep/", "/room?desk=1", *(f"/records/{n}.html" for n in range(1, 61, 5))])


def _record(number: int) -> str:
    # Every real page is reachable without entering a trap, so a crawler that avoids the traps misses none.
    near = [f"{n}.html" for n in (number - 1, number + 1, number * 2) if 1 <= n <= RECORDS]
    return links(near) + link("/calendar/2024-05/", "opening hours")


def _calendar(year: int, month: int, day: int) -> str:
    if day:
        return "<p>No events.</p>" + link("../", "back to the month")
    before = (year, month - 1) if month > 1 else (year - 1, 12)
    after = (year, month + 1) if month < 12 else (year + 1, 1)
    turns = [f"/calendar/{y}-{m:02}/" for y, m in (before, after)]
    return "<p>No events.</p>" + links(turns) + links(f"{d}/" for d in range(1, DAYS + 1))


def _desk(desk: int, query: str) -> str:
    # The parameter is not on any list of session ids, and its value depends on the whole URL: each step creates
    # new values, yet the same URL always gives the same page.
    visit = hashlib.sha256(query.encode(errors="replace")).hexdigest()[:16]
    return link(f"/room?desk={desk % DESKS + 1}&reader={visit}", "the next desk") + link(
        "/records/1.html", "the first record"
    )


def respond(web: Web, path: str, query: str) -> WebResponse:
    """Return the archive's response; *query* counts in the reading room only."""
    seed = path
    if path == "/":
        name, main = "The archive", _home()
    elif found := re.fullmatch(r"/records/([1-9]\d?)\.html", path):
        number = int(found[1])
        if number > RECORDS:
            return missing()
        name, main = title(f"archive {path}", number), _record(number)
    elif found := re.fullmatch(r"/calendar/(-?\d{1,6})-(0[1-9]|1[0-2])/(?:([1-9]|1\d|2[0-8])/)?", path):
        year, month, day = int(found[1]), int(found[2]), int(found[3] or 0)
        name, main, seed = f"Calendar {path[10:-1]}", _calendar(year, month, day), "calendar"
    elif re.fullmatch(r"/deep/(x/)*", path):
        name, main, seed = "A folder inside itself", link("x/", "deeper"), "deep"
    elif path == "/room" and (found := re.search(r"(?:^|&)desk=([1-9]|1[0-2])(?:&|$)", query)):
        seed = f"/room/{found[1]}"
        name, main = f"Reading room, desk {found[1]}", _desk(int(found[1]), query)
    else:
        return missing()
    return page(web, "archive", seed, name, paragraphs(f"archive {seed}", 2) + main)
