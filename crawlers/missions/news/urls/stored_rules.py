"""The rules of domains: which URLs are articles, and which selectors find the parts of an article.

URL rules that a person added, changed or confirmed by command are pinned: nothing else changes them.
The others are replaced as a whole: those of sources.yaml whenever the file is read, learnt rules whenever
learning is repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, delete, func, insert, select, update

from crawlers.errors import ConfigError
from crawlers.missions.news.article.article_evidence import SURE, StoredLabel
from crawlers.missions.news.stored.news_tables import content_rule, page_label, url_rule
from crawlers.missions.news.urls.rule_learner import HAND, LEARNT, MAX_RULES, UrlRule
from crawlers.store.schema.rows import UPDATE, written_by
from crawlers.store.schema.tables import page, site
from crawlers.store.streaming import among

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy import Connection

    from crawlers.store.database import Database

VALUES = ("weight", "support", "precision_low", "learnt_at")  # the columns that are replaced


class StoredRule(NamedTuple):
    """A rule, with the number by which commands refer to it."""

    number: int
    domain: str
    rule: UrlRule


def stored_rules_of(connection: Connection, domains: Sequence[str] | None) -> list[StoredRule]:
    """Return the rules of *domains*, or of all domains: by domain, the highest weight first."""
    statement = select(url_rule).order_by(url_rule.c.domain, url_rule.c.weight.desc(), url_rule.c.id)
    if domains is not None:
        statement = statement.where(among(url_rule.c.domain, domains))
    return [_stored(row) for row in connection.execute(statement)]


def rule_numbered(database: Database, number: int) -> StoredRule:
    """Return the rule with that *number*. Raises `ConfigError` if there is none."""
    with database.read() as connection:
        return _numbered(connection, number)


def rules_by_domain(database: Database, domains: Sequence[str] | None = None) -> dict[str, list[UrlRule]]:
    """Return the rules of *domains*, None: of all, by domain, as `RuleSet` takes them."""
    rules: dict[str, list[UrlRule]] = {}
    with database.read() as connection:
        for stored in stored_rules_of(connection, domains):
            rules.setdefault(stored.domain, []).append(stored.rule)
    return rules


def content_rules(database: Database) -> dict[str, dict[str, str]]:
    """Return, by domain, the selector of each part of an article."""
    rules: dict[str, dict[str, str]] = {}
    for row in database.rows(select(content_rule)):
        rules.setdefault(row.domain, {})[row.part] = row.selector
    return rules


def replace_learnt(connection: Connection, rows: Sequence[LearntRulesRow]) -> None:
    """Replace the learnt rules of the domains of *rows*, of each by its last row; see `replace_rules`."""
    for domain, rules in dict(rows).items():
        replace_rules(connection, LEARNT, {domain: rules})


@written_by(url_rule, UPDATE, replace_learnt)
class LearntRulesRow(NamedTuple):
    """All rules that were learnt for a domain."""

    domain: str
    rules: tuple[UrlRule, ...]


def replace_rules(connection: Connection, origin: str, rules: Mapping[str, Sequence[UrlRule]]) -> None:
    """Replace the rules of *origin* by *rules*, given by domain; pinned rules and those of other origins are kept.

    A rule that is in both keeps its number. Manual rules take precedence over learnt ones. Raises `ConfigError` for
    more than `MAX_RULES` rules of a domain.
    """
    for domain, its in rules.items():
        _check_number(domain, len(its))
    of_domains = select(url_rule).where(among(url_rule.c.domain, rules))
    known = {(row.domain, row.regex): row for row in connection.execute(of_domains)}
    wanted = {(domain, rule.regex): rule for domain, of_domain in rules.items() for rule in of_domain}
    changed, new = [], []
    for (domain, regex), rule in wanted.items():
        row = known.pop((domain, regex), None)
        values = {**_values(rule), "origin": origin}
        if row is None:
            new.append({"domain": domain, "regex": regex, **values})
        elif (
            not row.is_pinned
            and row.origin in (origin, LEARNT)
            and any(row._mapping[k] != v for k, v in values.items())
        ):
            changed.append({"number": row.id, **values})
    gone = [{"number": row.id} for row in known.values() if row.origin == origin and not row.is_pinned]
    # Insertions come first, so that the number of a deleted rule is not reused at once.
    is_it = url_rule.c.id == bindparam("number")
    for rows, action in (
        (new, insert(url_rule)),
        (changed, update(url_rule).where(is_it).values({name: bindparam(name) for name in (*VALUES, "origin")})),
        (gone, delete(url_rule).where(is_it)),
    ):
        if rows:
            connection.execute(action, rows)


def replace_content(connection: Connection, selectors: Mapping[str, Mapping[str, str]]) -> None:
    """Replace the content rules of the domains in *selectors*, which is by domain and part."""
    connection.execute(
        delete(content_rule).where(content_rule.c.domain == bindparam("of")), [{"of": domain} for domain in selectors]
    )
    rows = [
        {"domain": domain, "part": part, "selector": selector}
        for domain, parts in selectors.items()
        for part, selector in parts.items()
    ]
    if rows:
        connection.execute(insert(content_rule), rows)


def add_rule(database: Database, domain: str, regex: str, weight: float) -> StoredRule:
    """Insert or update a manual rule, pinned. Check the *regex* first. Raises `ConfigError`."""
    values = {**_values(UrlRule(regex, weight, HAND, is_pinned=True)), "origin": HAND, "is_pinned": True}
    with database.write() as connection:
        found = connection.execute(
            select(url_rule.c.id).where(url_rule.c.domain == domain, url_rule.c.regex == regex)
        ).scalar()
        if found is not None:
            return _changed(connection, found, values)
        by_hand = select(func.count()).where(url_rule.c.domain == domain, url_rule.c.origin == HAND)
        _check_number(domain, connection.execute(by_hand).scalar_one() + 1)
        made = connection.execute(insert(url_rule).values(domain=domain, regex=regex, **values)).inserted_primary_key
        assert made is not None
        return _numbered(connection, made[0])


def pin_rule(database: Database, number: int, **changes: Any) -> StoredRule:
    """Pin a rule, so that learning does not replace it, with *changes* of its columns. Raises `ConfigError`."""
    with database.write() as connection:
        return _changed(connection, number, {"is_pinned": True, **changes})


def edit_rule(database: Database, number: int, regex: str) -> StoredRule:
    """Change the *regex* of a rule, which becomes manual and pinned. Check it first. Raises `ConfigError`."""
    with database.write() as connection:
        before = _numbered(connection, number)
        other = connection.execute(
            select(url_rule.c.id).where(
                url_rule.c.domain == before.domain, url_rule.c.regex == regex, url_rule.c.id != number
            )
        ).scalar()
        if other is not None:
            raise ConfigError(f"rule {other} of {before.domain} already is {regex!r}; pin that one and remove {number}")
        values = _values(UrlRule(regex, before.rule.weight, HAND))
        return _changed(connection, number, {**values, "regex": regex, "origin": HAND, "is_pinned": True})


def remove_rule(database: Database, number: int) -> StoredRule:
    """Delete a rule and return it. Raises `ConfigError`."""
    with database.write() as connection:
        before = _numbered(connection, number)
        connection.execute(delete(url_rule).where(url_rule.c.id == number))
    return before


def _check_number(domain: str, number: int) -> None:
    if number > MAX_RULES:
        raise ConfigError(f"{domain} would have {number:,} manual rules; keep at most {MAX_RULES:,}, join some with |")


def _changed(connection: Connection, number: int, values: Mapping[str, Any]) -> StoredRule:
    connection.execute(update(url_rule).where(url_rule.c.id == number).values(**values))
    return _numbered(connection, number)


def _numbered(connection: Connection, number: int) -> StoredRule:
    row = connection.execute(select(url_rule).where(url_rule.c.id == number)).one_or_none()
    if row is None:
        raise ConfigError(f"there is no rule {number}; `scrapy sites rules` lists all rules with their numbers")
    return _stored(row)


def _stored(row: Any) -> StoredRule:
    found = (row.support, row.precision_low, row.learnt_at or 0.0)
    return StoredRule(row.id, row.domain, UrlRule(row.regex, row.weight, row.origin, row.is_pinned, *found))


def _values(rule: UrlRule) -> dict[str, Any]:
    return {name: getattr(rule, name) for name in VALUES} | {"learnt_at": rule.learnt_at or None}


def labels_of(connection: Connection, sites: Collection[int], most: int | None = None) -> list[StoredLabel]:
    """Return the certain labels of the pages of *sites*, oldest first; at most *most*."""
    labelled_at = func.coalesce(page_label.c.labelled_at, 0.0)
    statement = (
        select(site.c.site, page.c.url, page_label.c.odds, labelled_at)
        .select_from(page_label)
        .join(page, page.c.id == page_label.c.page_id)
        .join(site, site.c.id == page_label.c.site_id)
        .where(among(page_label.c.site_id, sites), (page_label.c.odds > SURE) | (page_label.c.odds <= -SURE))
        .order_by(labelled_at, page_label.c.page_id)
    )
    return [StoredLabel(*row) for row in connection.execute(statement.limit(most))]
