"""What tests of the core need of news, if it is installed: see `tests.support.of_missions`."""

import json

from sqlalchemy import insert

from crawlers.items import REVISIT
from crawlers.missions.news import ARTICLES
from crawlers.missions.news.stored import news_tables as news
from tests.support.stored_rows import execute, write_rows

GIVEN = {ARTICLES: True}  # what its orders need
LEARNING = {}
HOSTILE_TITLE = '"><script>alert(2)</script> \u202egnp.exe ' + "long" * 300
HOSTILE_TEXT = "First <b>bold</b> javascript:alert(1)\nSecond paragraph.\n\n<img src=x onerror=alert(3)>"


def add_rows(database, crawl_id, name, of_site):
    """Store documents, polls, rules and alarms of the pages *of_site*, of the site *name*."""
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
                news.NewsScoreRow(one.id, one.site_id, REVISIT if number else -1, 0.0, 0.0),
            )
        ),
    )
    dead = [("dead feed", f"{name}/{number}", "timeout; open it in a browser", float(number)) for number in range(3)]
    columns = ("kind", "subject", "message", "raised_at")
    for one in (*dead, ("silent source", name, "no new article for 4 days; check whether", 9.0)):
        values = dict(zip(columns, one, strict=True))
        ended_at = 8.0 if one[-1] == 1.0 else None
        execute(database, insert(news.alarm).values(crawl_id=crawl_id, ended_at=ended_at, **values))
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
