"""The URL rules that apply to the sites of a news crawl, and what they match."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from crawlers.algorithms.url_rules.url_expressions import UrlExpressions
from crawlers.algorithms.url_rules.url_tokens import target_of_url
from crawlers.errors import ConfigError
from crawlers.items import State
from crawlers.reports.catalogue.crawl_report import NUMBERS, PAGE_NUMBERS, Column, Group, Kind, Report, Row, Step
from crawlers.reports.catalogue.crawl_scope import NEWS, is_wanted_site
from crawlers.reports.url_rule_trial import rules_at
from crawlers.storage.schema.news_tables import document
from crawlers.storage.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.crawl_report import Cursor
    from crawlers.reports.catalogue.filters import Filters
    from crawlers.storage.files.cells import Value
    from crawlers.storage.news.stored_rules import StoredRule

PAGES = 500  # of a site, which are held against its rules


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
        Column("origin", "Origin", Kind.WORDS),
        Column("weight", "Weight", Kind.DECIMAL),
        Column("is_pinned", "Pinned"),
        Column("support", "Learnt from", Kind.NUMBER),
        Column("precision_low", "Precision at least", Kind.DECIMAL),
        Column("matched", "Matched", Kind.NUMBER),
        Column("documents", "Documents among them", Kind.NUMBER),
        Column("pages", "Of pages", Kind.NUMBER),
        Column("learnt_at", "Learnt", Kind.TIME),
        Column("number", "Number", Kind.NUMBER),
        Column("domain", "Domain"),
    )
    filters = frozenset({"site", "text"})
    missions = NEWS
    cursor_ranges = (NUMBERS, PAGE_NUMBERS)  # site, place of the rule
    empty = "A news crawl learns rules from 30 pages of a site on; or add one: scrapy sites add-rule SITE '/news/.+'"
    _END = 2**63 - 1

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        site_id, place = after if after is not None else (0, -1)
        is_left = site.c.id >= site_id + (place == self._END)
        sites = select(site.c.id, site.c.site).where(is_wanted_site(crawl_id, filters), is_left)
        for one in connection.execute(sites.order_by(site.c.id)).all():
            first = place + 1 if one.id == site_id else 0
            rules = rules_at(connection, one.site)
            rows = [
                Row(_cells(one.site, stored, counts), (one.id, number))
                for number, (stored, counts) in enumerate(_counted(connection, one, rules))
                if number >= first and filters.text.lower() in f"{one.site}\n{stored.rule.regex}".lower()
            ]
            yield Step(rows, (one.id, self._END))
        yield Step([], None)


class _Counts(NamedTuple):
    matched: int
    documents: int
    pages: int


def _counted(connection: Connection, of: Any, rules: list[StoredRule]) -> Iterator[tuple[StoredRule, _Counts | None]]:
    """Yield each of *rules* with what it matches among some pages of the site *of*."""
    if not rules:
        return
    try:
        expressions = UrlExpressions([stored.rule.regex for stored in rules])
    except ConfigError:  # a rule of an earlier version; crawls say which one
        yield from ((stored, None) for stored in rules)
        return
    pages = (
        select(page.c.url, document.c.page_id)
        .outerjoin(document, document.c.page_id == page.c.id)
        .where(page.c.site_id == of.id, page.c.state == int(State.DONE))
        .order_by(page.c.level, page.c.id)
        .limit(PAGES)
    )
    matched, documents, number = [0] * len(rules), [0] * len(rules), 0
    for url, document_id in connection.execute(pages):
        number += 1
        for index in expressions.matching(target_of_url(url)):
            matched[index] += 1
            documents[index] += document_id is not None
    for index, stored in enumerate(rules):
        yield stored, _Counts(matched[index], documents[index], number)


def _cells(name: str, stored: StoredRule, counts: _Counts | None) -> tuple[Value, ...]:
    number, domain, rule = stored
    return (
        name,
        rule.regex,
        rule.origin,
        rule.weight,
        "yes" if rule.is_pinned else "no",
        rule.support or None,
        round(rule.precision_low, 3) if rule.support else None,
        *(counts or (None, None, None)),
        rule.learnt_at or None,
        number,
        domain,
    )
