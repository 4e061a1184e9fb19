"""Rows that crawls of news, topics and important pages store about pages of a stored site, and its sitemaps."""

import json

from sqlalchemy import insert, select

from crawlers.items import REVISIT
from crawlers.missions.news.stored import news_tables as news
from crawlers.missions.topic import topic_tables
from crawlers.ranking.opic import OPICTotals
from crawlers.store.schema import tables as scores
from crawlers.store.schema.tables import SettingRow, SitemapRow, SitemapState, SitemapUrlRow, page, site
from crawlers.urls.keys import url_key
from crawlers.urls.resolution import resolve
from tests.support.stored_rows import execute, write_rows

LISTED = ("/", "/a", "/gone", "/moved", "/secret", *(f"/orphan/{number}" for number in range(7)))
HOSTILE_TITLE = '"><script>alert(2)</script> \u202egnp.exe ' + "long" * 300
HOSTILE_TEXT = "First <b>bold</b> javascript:alert(1)\nSecond paragraph.\n\n<img src=x onerror=alert(3)>"
TOTALS = OPICTotals(ticks=100.0, virtual=0.0, found=130.0, offset_new=0.0, offset_read=0.0, new=0.0, read=9)


def add_mission_rows(database, crawl_id, name):
    """Store documents, polls, rules, alarms, similarities and importances of the pages of the site *name*."""
    pages = select(page.c.id, page.c.url, page.c.site_id).join(site, site.c.id == page.c.site_id)
    of_site = database.rows(pages.where(site.c.site == name).order_by(page.c.id))
    first = of_site[0].id
    write_rows(
        database,
        *(_document(number, page_id, url, site_id) for number, (page_id, url, site_id) in enumerate(of_site[:60])),
        news.DocumentVersionRow(first, 1, "Before", "Old text.", None, 0.0),
        *(
            row
            for number, one in enumerate(of_site[100:112])
            for row in (
                _poll(number, one.id, one.site_id),
                news.NewsScoreRow(one.id, one.site_id, REVISIT if number else -1, 0.0, 0.0, 0.0),
            )
        ),
        *(
            news.RaisedAlarm(crawl_id, "dead feed", f"{name}/{number}", "timeout; open it in a browser", float(number))
            for number in range(3)
        ),
        news.RaisedAlarm(crawl_id, "silent source", name, "no new article for 4 days; check whether", 9.0),
        news.EndedAlarm(2, 8.0),
        *(topic_tables.TopicPageRow(one.id, number % 7 / 7, "{}") for number, one in enumerate(of_site[:40])),
        *(topic_tables.RelevanceRow(one.id, one.site_id, -1, 0.5, 0.25, 1, -2.0) for one in of_site[:20]),
        *(
            scores.ImportanceRow(one.id, one.site_id, 1, 0.0, number / 10, 1.0, 50.0, 0)
            for number, one in enumerate(of_site[:9])
        ),
        SettingRow(crawl_id, "ORDER", "aopic"),
        SettingRow(crawl_id, "AOPIC_WINDOW_VISITS", "2.0"),
        scores.OrderTotalsRow(crawl_id, 1, json.dumps(TOTALS), "[0, 0]"),
    )
    rules = [("/[0-9]+", 0.8, "learnt", 40, 0.75, 9.0), ("/1.* except /11", 0.0, "hand", 0, 0.0, None)]
    names = ("regex", "weight", "origin", "support", "precision_low", "learnt_at")
    rows = [{"domain": "c.test", **dict(zip(names, rule, strict=True))} for rule in rules]
    execute(database, insert(news.url_rule), rows)


def _poll(number, page_id, site_id):
    kind, problem = "sitemap" if number > 8 else "feed", "status 404" if number % 2 else None
    return news.PollRow(page_id, site_id, kind, 60.0, 5.0, 7, number % 2, 3, 4.0, "[]", problem)


def _document(number, page_id, url, site_id):
    title = HOSTILE_TITLE if number == 1 else f"Story one {number}" if number % 2 else f"=Story {number}"
    published = "1970-01-01T00:01:40+00:00" if number % 3 else "1970-01-01"
    authors, language = json.dumps(["A. Author", "<i>B</i>"]), "de" if number % 2 else "en"
    return news.DocumentRow(
        *(page_id, site_id, url, None, title, HOSTILE_TEXT, 100.0, published, authors, "politics", language),
        *(None, "json-ld", "", 1 if number else 2, float(200 + number // 2), None if number else 500.0),
    )


def add_sitemap_rows(database, crawl_id, name):
    """Store an index of the site *name*, a sitemap with the URLs `LISTED`, one that is missing, and one that waits."""
    site_id = database.scalar(select(site.c.id).where(site.c.site == name, site.c.crawl_id == crawl_id))
    index = SitemapRow(
        *(site_id, url_key(f"{name}/sitemap.xml"), f"{name}/sitemap.xml", name, 0, None, SitemapState.READ, 200),
        *("sitemap index", "beyond_limits 1 0", 0, 0, 1, 0.0),
    )
    listing, missing, waiting = (
        index._replace(
            key=url_key(f"{name}/{number}.xml"),
            url=f"{name}/{number}.xml",
            number=number,
            index_key=index.key,
            kind="sitemap",
            reason=None,
            cut=0,
        )
        for number in (1, 2, 3)
    )
    write_rows(
        database,
        index,
        listing._replace(urls=len(LISTED), outside=3),
        missing._replace(state=SitemapState.UNREAD, status=404, kind=None, reason="status 404"),
        waiting._replace(state=SitemapState.WAITING, status=None, kind=None, read_at=None),
        *(
            SitemapUrlRow(site_id, resolve(name, path).key, f"{name}{path}", listing.key, 86_400.0 * number or None)
            for number, path in enumerate(LISTED)
        ),
    )
