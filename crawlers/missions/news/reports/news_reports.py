"""Reports about news crawls: their feeds, the rules of URLs, and what needs attention."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import case, literal, null, select

from crawlers.items import REVISIT, State
from crawlers.missions.news.news_items import ANNOUNCERS
from crawlers.missions.news.plan.alarm_rules import (
    DEAD_FEED,
    DISCOVERY,
    DISCOVERY_SHARE,
    EXTRACTION,
    MIN_SHARE,
    SILENCE_FACTOR,
    SILENT,
    UNREACHABLE,
)
from crawlers.missions.news.reports.url_rule_trial import rules_at
from crawlers.missions.news.stored.news_tables import alarm, document, news_score, poll
from crawlers.missions.news.urls.rule_learner import HAND, LEARNT
from crawlers.missions.news.urls.url_tokens import target_of_url
from crawlers.options import SETTINGS
from crawlers.reports.catalogue.conditions import equal, in_text, is_wanted_site, of_reason
from crawlers.reports.catalogue.index_walk import KeyedReport
from crawlers.reports.catalogue.page_reports import SITE, STATUS, URL
from crawlers.reports.catalogue.report import MOST, Column, ComputedReport, Group, Kind, Report, Row, Step
from crawlers.store.schema.tables import crawl, page, site
from crawlers.urls.url_expressions import UrlExpressions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection, Select

    from crawlers.missions.news.urls.stored_rules import StoredRule
    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.index_walk import Part
    from crawlers.reports.catalogue.report import Cells, Cursor

PAGES = 500  # of a site, which are held against its rules
_WITHIN = f"within {{}} days, or {SILENCE_FACTOR} times the usual interval"
HOURS, DAYS = "NEWS_ALARM_HOURS", "NEWS_ALARM_SILENT_DAYS"
# What is expected, by kind, with the setting that says how long it may take, and the share of it.
EXPECTED = {
    DEAD_FEED: ("a response within {} hours", HOURS, 1.0),
    UNREACHABLE: ("a response within {} hours", HOURS, 1.0),
    SILENT: (f"an article {_WITHIN}", DAYS, 1.0),
    EXTRACTION: (f"documents from {MIN_SHARE:.0%} of the pages that look like articles", "", 1.0),
    DISCOVERY: (f"a new URL {_WITHIN}", DAYS, DISCOVERY_SHARE),
}
WORDS = ("News", "home", "article", *EXPECTED, HAND, LEARNT)  # headings and cells, which the panel translates


class Feeds(KeyedReport):
    """Feeds and sitemaps by site."""

    name = "feeds"
    title = "Feeds and sitemaps"
    group = Group.CONTENTS
    about = (
        "Where the sites of a news crawl announce their articles: when each was read, with what, and when it is next."
    )
    columns = (
        URL,
        Column("kind", "Kind", Kind.STATE, poll.c.kind, "feed or sitemap"),
        Column("read_at", "Last read", Kind.TIME, poll.c.polled_at),
        STATUS,
        Column("reason", "Problem", Kind.REASON, poll.c.problem),
        Column("failures", "Failures in a row", Kind.NUMBER, poll.c.failures),
        Column("items", "New items", Kind.COUNT, poll.c.new_items),
        Column("newest_at", "Last new item", Kind.TIME, poll.c.newest_at),
        Column("polls", "Times read", Kind.COUNT, poll.c.polls),
        Column("next_at", "Next visit", Kind.TIME, case((news_score.c.queue == REVISIT, poll.c.due_at), else_=null())),
        SITE,
    )
    conditions: ClassVar = {
        "text": in_text(page.c.url),
        "reason": of_reason(poll.c.problem),
        "status": equal(page.c.status),
    }
    scope = frozenset({"site", "kind"})
    cursor_kinds = (int, int, int)  # site, place of the kind, page
    empty = "A news crawl looks for feeds on the pages of its sites; or add one: scrapy sites add-feed SITE URL"

    key = (poll.c.page_id,)

    def of_site(self, site_id: int, filters: Filters) -> Iterator[Part]:
        for place, kind in enumerate(ANNOUNCERS):
            if filters.kind in ("", kind):
                yield (site_id, place), [poll.c.site_id == site_id, poll.c.kind == kind]

    def statement(self) -> Select[Any]:
        return (
            select(*self.key, *self.values)
            .join(page, page.c.id == poll.c.page_id)
            .join(site, site.c.id == poll.c.site_id)
            .outerjoin(news_score, news_score.c.page_id == poll.c.page_id)
        )


class UrlRules(Report):
    """URL rules by site."""

    name = "url-rules"
    title = "URL rules"
    group = Group.CONTENTS
    about = (
        "The rules by which URLs of each site of a news crawl are articles, given or learnt, and what they match among "
        f"{PAGES} pages of it that were read."
    )
    columns = (
        Column("site", "Site"),
        Column("rule", "Rule", Kind.RULE),
        Column("origin", "Origin", Kind.STATE),
        Column("weight", "Weight", Kind.DECIMAL, about="0 forbids"),
        Column("is_pinned", "Pinned", about="whether learning leaves it alone"),
        Column("support", "Learnt from", Kind.NUMBER, about="URLs"),
        Column("precision_low", "Precision at least", Kind.DECIMAL),
        Column("matched", "Matched", Kind.COUNT),
        Column("documents", "Documents among them", Kind.COUNT),
        Column("pages", "Of pages", Kind.NUMBER),
        Column("learnt_at", "Learnt", Kind.TIME),
        Column("number", "Number", Kind.NUMBER),
        Column("domain", "Domain"),
    )
    scope = frozenset({"site", "text"})
    cursor_kinds = (int, int)  # site, place of the rule
    empty = "A news crawl learns rules from 20 pages of a site on; or add one: scrapy sites add-rule SITE '/news/.+'"

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        site_id, place = after if after is not None else (0, -1)
        is_left = site.c.id > literal(site_id) if place == MOST else site.c.id >= literal(site_id)
        sites = select(site.c.id, site.c.site).where(is_wanted_site(crawl_id, filters), is_left)
        for one in connection.execute(sites.order_by(site.c.id)).all():
            first = place + 1 if one.id == site_id else 0
            rows = [
                Row(cells, (one.id, number))
                for number, cells in enumerate(_rows(connection, one, rules_at(connection, one.site)))
                if number >= first and filters.text.lower() in f"{one.site}\n{cells[1]}".lower()
            ]
            yield Step(rows, (one.id, MOST))  # after all rules of the site
        yield Step([], None)


def _rows(connection: Connection, of: Any, rules: list[StoredRule]) -> Iterator[Cells]:
    """Yield the cells of each of *rules*, with what it matches among some pages of the site *of*."""
    if not rules:
        return
    expressions = UrlExpressions([rule.regex for _, _, rule in rules])
    pages = (
        select(page.c.url, document.c.page_id)
        .outerjoin(document, document.c.page_id == page.c.id)
        .where(page.c.site_id == of.id, page.c.state == int(State.DONE))
        .order_by(page.c.level, page.c.id)
        .limit(PAGES)
    )
    found = connection.execute(pages).all()
    matched, documents = Counter[int](), Counter[int]()
    for url, document_id in found:
        places = expressions.matching(target_of_url(url))
        matched.update(places)
        documents.update(places if document_id is not None else ())
    for place, (number, domain, rule) in enumerate(rules):
        yield (
            of.site,
            rule.regex,
            rule.origin,
            rule.weight,
            "yes" if rule.is_pinned else "no",
            rule.support or None,
            round(rule.precision_low, 3) if rule.support else None,
            *(matched[place], documents[place], len(found)),
            rule.learnt_at or None,
            number,
            domain,
        )


class Alarms(ComputedReport):
    """Alarms: open ones first, and the latest of them first."""

    name = "alarms"
    title = "Alarms"
    group = Group.ERRORS
    about = "What needs attention in a news crawl: feeds and sources that fail, are silent, or yield nothing."
    columns = (
        Column("subject", "Feed or site", Kind.URL),
        Column("kind", "Kind", Kind.STATE),
        Column("raised_at", "Since", Kind.TIME),
        Column("ended_at", "Ended", Kind.TIME),
        Column("expected", "Expected"),
        Column("got", "Got instead"),
        Column("remedy", "What to do"),
    )
    conditions: ClassVar = {
        "text": in_text(alarm.c.subject, alarm.c.message),
        "kind": equal(alarm.c.kind),
        "since": lambda seconds: alarm.c.raised_at >= seconds,
        "until": lambda seconds: alarm.c.raised_at < seconds,
    }
    scope = frozenset()
    empty = "Nothing needs attention. A news crawl checks its sources every ten minutes."

    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        limits = _limits(connection, crawl_id)
        statement = (
            select(alarm)
            .where(alarm.c.crawl_id == crawl_id, *self.met(filters))
            .order_by(alarm.c.ended_at.is_not(None), alarm.c.id.desc())
            .limit(self.most + 1)
        )
        for one in connection.execute(statement):
            got, _, remedy = one.message.partition("; ")
            yield one.subject, one.kind, one.raised_at, one.ended_at, _expected(one.kind, limits), got, remedy


def _limits(connection: Connection, crawl_id: int) -> dict[str, Any]:
    """Return the settings that were given to the crawl."""
    manifest = json.loads(connection.execute(select(crawl.c.manifest).where(crawl.c.id == crawl_id)).scalar_one())
    return dict(manifest.get("command", {}).get("settings", {}))


def _expected(kind: str, limits: Mapping[str, Any]) -> str | None:
    if kind not in EXPECTED:
        return None
    sentence, name, share = EXPECTED[kind]
    limit = limits.get(name, SETTINGS[name].default) if name else 0.0
    return sentence.format(f"{share * float(limit):.3g}")
