"""A stored news crawl: pages, documents and feeds, written like those of a crawl."""

from sqlalchemy import insert, select

from crawlers.items import State
from crawlers.missions.news.stored.news_tables import (
    DocumentRow,
    DocumentVersionRow,
    NewsScoreRow,
    PollRow,
    alarm,
    document,
)
from crawlers.urls.keys import url_key
from tests.support.stored_rows import begin, ended_page, execute, new_page, page_ids, write_rows

DAY = 86_400.0
SITE, OTHER = "http://one.example", "http://two.example"


class NewsStore:
    """A crawl called *name* with two *sites*."""

    def __init__(self, database, name="news", sites=(SITE, OTHER)):
        self.database = database
        begun = begin(database, *sites, name=name, mission="news")
        self.id = begun.id
        self.sites = {row.site: row.id for row in begun.sites}

    def write(self, *rows):
        write_rows(self.database, *rows)

    def page(self, path, fetched_at, *, site=SITE, reason="", queue=-1, **more):
        """Store a page; return its number."""
        state = more.get("state", State.DONE)
        (number,) = page_ids(self.database, 1)
        url, at = site + path, more.get("state_at", fetched_at)
        ended = {"reason": reason or None, "fetched_at": fetched_at, "state_at": at, "size_bytes": 9}
        self.write(
            new_page(number, self.sites[site], key=url_key(url), url=url, level=1, found_at=at, state_at=at),
            ended_page(number, state, **ended),
            NewsScoreRow(number, self.sites[site], queue, 0.0, 0.0),
        )
        return number

    def poll(self, path, kind, polled_at, *, site=SITE, **more):
        """Store a scheduled page; return its number."""
        of_page = {name: more.pop(name) for name in ("state", "state_at") if name in more}
        of_page |= {"site": site, "queue": 1, "reason": more.get("problem", "")}
        number = self.page(path, more.pop("fetched_at", polled_at), **of_page)
        row = {"failures": 0, "newest_at": polled_at, "problem": ""} | more
        times = (polled_at + 60.0, polled_at, 7, row["failures"], 3, row["newest_at"])
        self.write(PollRow(number, self.sites[site], kind, *times, "[]", row["problem"] or None))
        return number

    def alarm(self, kind, subject, raised_at, ended_at=None):
        values = {"kind": kind, "subject": subject, "message": "see to it", "raised_at": raised_at}
        execute(self.database, insert(alarm).values(crawl_id=self.id, ended_at=ended_at, **values))

    def document(self, path, stored_at, *, site=SITE, again=0, **article):
        """Store a document on a new page, or another version of that on the page *again*; return the page's number."""
        number = again or self.page(path, stored_at, site=site)
        found = {"title": f"Title of {path}", "text": f"The text of {path}.", "canonical": None, "extractor": "rule"}
        found |= {"published_at": None, "published": None, "section": None, "language": "en", "image": None}
        found |= {"page_id": number, "site_id": self.sites[site], "url": site + path, "text_hash": ""}
        found |= {"authors": "[]", "version": 1, "stored_at": stored_at, "changed_at": None} | article
        if again:
            with self.database.read() as connection:
                old = connection.execute(select(document).where(document.c.page_id == again)).one()
            since = old.changed_at or old.stored_at
            self.write(DocumentVersionRow(again, old.version, old.title, old.text, old.published_at, since))
            found |= {"version": old.version + 1, "stored_at": old.stored_at, "changed_at": stored_at}
        self.write(DocumentRow(**found))
        return number
