"""A finished crawl whose pages fill all reports."""

from sqlalchemy import insert

from crawlers.items import State
from crawlers.store.schema.tables import crawl
from tests.support.stored_missions import add_mission_rows, add_sitemap_rows
from tests.support.stored_rows import execute
from tests.support.stored_site import Stored, store

CRAWL = 1
LATER = 2
MANIFEST = '{"command": {"arguments": {}, "settings": {}, "left_out": []}}'
BAD, EXTERNAL = ("http://[", "http://x y"), ("http://b.test/one", "http://b.test/two")
HOSTILE = "<script>alert(1)</script>"


def stored_crawl(database, name="spring"):
    """Store a crawl with two sites, some of whose pages are duplicates, redirects or errors; return its number."""
    row = {"id": CRAWL, "name": name, "mission": "extlinks", "state": "finished", "started_at": 1e9}
    execute(database, insert(crawl), {**row, "manifest": MANIFEST})
    store(
        database,
        [
            Stored("/", 0, links={1: 2, 2: 1, 4: 1, 6: 1, 8: 1}, title="Home", bad=BAD, external=EXTERNAL),
            Stored("/a", links={0: 1}, body="same", title="=1+1", external=("http://b.test/one",)),
            Stored("/b", body="same", title=HOSTILE),
            Stored("/untitled", links={0: 1, 8: 1}),
            Stored("/moved", state=State.MOVED, moved_to=1),
            Stored("/left", state=State.MOVED, leaves=True),
            Stored("/gone", 2, state=State.REFUSED, reason="status 404"),
            Stored("/failed", 2, state=State.FAILED, reason="timeout"),
            Stored("/old", 2, state=State.MOVED, moved_to=6),
            Stored("/secret", 2, state=State.REJECTED, reason="robots_disallows"),
            Stored("/day?2", 3, state=State.REJECTED, reason="trap_content 9 /day?#"),
            Stored("/day?3", 4, state=State.REJECTED, reason="trap_content 9 /day?#"),
        ],
        name="http://a.test",
    )
    add_sitemap_rows(database, CRAWL, "http://a.test")
    news = {"title": "News", "external": EXTERNAL[1:]}
    pages = [Stored(f"/{number}", number // 30, latency_s=number / 10, **news) for number in range(130)]
    store(database, pages, name="http://c.test", base="http://c.test")
    add_mission_rows(database, CRAWL, "http://c.test")
    return CRAWL


def later_crawl(database):
    """Store a second crawl of one of the sites of `stored_crawl`, which changed, and return its number."""
    row = {"id": LATER, "name": "autumn", "mission": "extlinks", "state": "finished", "started_at": 1.1e9}
    execute(database, insert(crawl), {**row, "manifest": MANIFEST})
    pages = [
        Stored("/", 0, links={1: 1, 2: 1, 3: 1}, title="Home", external=("http://b.test/one", "http://d.test/")),
        Stored("/a", links={0: 1}, body="other", title=HOSTILE, external=("http://b.test/one",)),
        Stored("/fresh"),
        Stored("/untitled", state=State.REFUSED, reason="status 404"),
    ]
    store(database, pages, name="http://a.test", crawl_id=LATER)
    return LATER
