"""Summaries of stored crawls."""

from pathlib import Path

from crawlers.items import State
from crawlers.reports.crawl_summary import Places, crawl_summary
from crawlers.store.reading import crawls
from crawlers.store.reading.queries import crawl_named
from crawlers.store.schema.tables import PageLinks
from tests.support.stored_rows import begin, ended_page, new_page, page_ids, write_rows

PLACES = Places([Path("result/a.test.gexf")], "logs/error_log.csv", "stop.txt")


def ended(database, crawl_id, reason, *, finished=False, **more):
    """End a run that began at 100; return its summary."""
    crawls.end(database, crawl_id, finished=finished, reason=reason, now=200.0)
    return crawl_summary(database, crawl_named(database, "mine"), 100.0, 83.2, PLACES, **more)


class Stored:
    """A crawl of the sites *names*, given as literals."""

    def __init__(self, database, *names, mission="plain"):
        self.database = database
        sites = [f"http://{name}" for name in names]
        self.row = begin(database, *sites, name="mine", mission=mission, now=100.0, REWARD="new_links")
        self.sites = {site.site.removeprefix("http://"): site.id for site in self.row.sites}

    def page(self, url, state=State.DONE, status=200, reason=None, content=None, links=0):
        (number,) = page_ids(self.database, 1)
        found = new_page(number, self.sites[url.partition("/")[0]], url=f"http://{url}", state_at=1.0)
        read = {"reason": reason, "status": status, "content_hash": content or f"{number:032x}"}
        links = PageLinks(number, {number + place: 1 for place in range(1, links + 1)})
        write_rows(self.database, found, ended_page(number, state, state_at=2.0, fetched_at=2.0, **read), links)
        return number

    def summary(self, *, finished=True, reason="finished", **more):
        return ended(self.database, self.row.id, reason, finished=finished, **more)
