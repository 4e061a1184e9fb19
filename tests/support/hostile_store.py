"""A store in which every text that comes from the web, from files or from people attacks its reader."""

import json

from sqlalchemy import insert, literal, update

from crawlers.reasons import Reason
from crawlers.store.schema.tables import metadata
from crawlers.store.sites.seeds import list_seeds, save_seeds
from tests.support.stored_crawl import CRAWL, later_crawl, stored_crawl

# A formula for spreadsheets, an end of attributes and elements, scripts, a template, a format, escapes of terminals (C0
# and C1), and text that turns the direction of what follows.
ATTACK = (
    "=1+1\"'></script><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}%(name)s%s"
    "\x1b[31m\x9b31m\u202egnp.exe\u2066\u200e\u200f\u061c"
)
TEXTS = {
    "alarm": ("subject", "message"),
    "bad_link": ("raw", "anchor"),
    "crawl": ("name", "reason"),
    "document": ("title", "text", "published", "section"),
    "document_version": ("title", "text"),
    "feed_item": ("title",),
    "link_anchor": ("anchor",),
    "link_context": ("anchor", "context", "rel"),
    "page": ("title", "canonical", "content_type"),
    "seed": ("name",),
    "site": ("robots_text",),
    "url_rule": ("origin",),
    "worker": ("machine",),
}
REASONS = {"bad_link": "reason", "page": "reason", "poll": "problem", "site": "availability"}
URLS = {"page": "url", "external_url": "url", "document": "url"}  # they begin with http, whatever is behind that


def hostile_store(database):
    """Store two crawls, of the same sites, with rows of all missions, a worker, settings and a list of sites."""
    stored_crawl(database)
    later_crawl(database)
    save_seeds(database, [{"site": f"http://{name}.test"} for name in "ac"])
    tables = metadata.tables
    command = {"arguments": {"hosts": ATTACK}, "settings": {"USER_AGENT": ATTACK}, "left_out": [ATTACK]}
    manifest = json.dumps({"seeds": [ATTACK], "settings": {ATTACK: ATTACK}, "command": command})
    row = {"crawl_id": CRAWL, "machine": "m", "process": 1, "version": "1", "state": "left", "beat_at": 1e9}
    with database.write() as connection:
        connection.execute(insert(tables["worker"]).values(**row, joined_at=1e9, ended_at=2e9))
        connection.execute(update(tables["crawl"]).values(manifest=manifest, mission="news", state="interrupted"))
        for table in filter(tables.__contains__, TEXTS):
            for stored in (tables[table].c[name] for name in TEXTS[table]):
                changed = update(tables[table]).values({stored.name: literal(ATTACK) + stored})
                connection.execute(changed.where(stored.is_not(None)))
        for table in filter(tables.__contains__, REASONS):
            stored = tables[table].c[REASONS[table]]
            attacks = update(tables[table]).values({stored.name: Reason.BROWSER_FAILED.of(ATTACK)})
            connection.execute(attacks.where(stored.is_not(None)))
        for table in filter(tables.__contains__, URLS):
            stored = tables[table].c[URLS[table]]
            connection.execute(update(tables[table]).values({stored.name: stored + literal(f"?{ATTACK}")}))
    assert all(seed.name is None or seed.name.startswith("=") for seed in list_seeds(database))
