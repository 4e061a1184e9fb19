"""Which rows a statement can concern, if each table is divided among servers by site: those of given sites, or any.

It is what the planner of a sharded database asks before it sends a statement to one server. A table is divided by a
column that names the site, or a page of it (`DIVIDED_BY`). A statement *crosses* sites if it reads or writes such a
table, and nothing in it equates this column with a given value: a parameter, a value of rows that are given as JSON, or
a column that is equated with one. That a given number belongs to a site that the worker holds is for the caller to
check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from crawlers.storage.schema import metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sqlglot.expressions import Expression

# The columns by which tables are divided; one of them suffices, because the number of a page implies its site.
DIVIDED_BY: Mapping[str, tuple[str, ...]] = {
    "page": ("site_id", "id"),
    "link": ("source_id",),
    "link_anchor": ("source_id",),
    "link_text": ("source_id",),
    "link_change": ("source_id",),
    "link_features": ("page_id",),
    "external_link": ("page_id",),
    "bad_link": ("page_id",),
    "page_change": ("page_id",),
    "counted_key": ("site_id",),
    "pull": ("site_id",),
    "message": ("site_id",),
    "importance": ("site_id", "page_id"),
    "relevance": ("site_id", "page_id"),
    "topic_page": ("page_id",),
    "news_score": ("site_id", "page_id"),
    "poll": ("site_id", "page_id"),
    "feed_item": ("feed_id",),
    "page_label": ("site_id", "page_id"),
    "document": ("site_id", "page_id"),
    "document_version": ("page_id",),
    "document_key": ("page_id",),
    "document_band": ("page_id",),
    "sitemap": ("site_id",),
    "sitemap_url": ("site_id",),
}
# Rows that any worker may insert, and that are found by a hash of their contents.
HASHED = {"external_url", "link_context"}
# Few and short rows about the crawl, its workers, and its sites; sources of news belong to all crawls.
CENTRAL = {
    *("schema_version", "crawl", "worker", "crawler_setting", "id_block", "seed", "seed_host", "site", "order_totals"),
    *("feed", "url_rule", "content_rule", "iteration", "alarm"),
}

TABLES = metadata.tables

Column = tuple[str, str]  # name or alias of a table, name of the column
# What tells which sites are meant: their names or numbers, or the worker that holds them.
_KEYS = {"site": ({"crawl_id", "site"}, {"id"}, {"crawl_id", "worker_id"}), "seed": ({"site"}, {"id"})}


def crossed(statement: str, dialect: str) -> set[str]:
    """Return the divided tables in which *statement* may concern rows of any site; *dialect* as of SQLAlchemy."""
    parsed = sqlglot.parse_one(statement, dialect={"postgresql": "postgres"}.get(dialect, dialect))
    if isinstance(parsed, exp.Insert):
        return _insert(parsed)
    if isinstance(parsed, exp.Query | exp.Update | exp.Delete):
        return _Scope(parsed, set()).crossed
    raise ValueError(f"not a statement that concerns rows: {statement}")


def _insert(statement: exp.Insert) -> set[str]:
    schema = statement.this
    table = schema.this.name if isinstance(schema, exp.Schema) else schema.name
    columns = [one.name for one in schema.expressions] if isinstance(schema, exp.Schema) else []
    rows = statement.expression
    if isinstance(rows, exp.Values):
        return set()  # every value is given
    source = _Scope(rows, set())
    given = {column for column, is_given in zip(columns, source.gives, strict=True) if is_given}
    crossed = set(source.crossed)
    if table in DIVIDED_BY and not given.intersection(DIVIDED_BY[table]):
        crossed.add(table)
    return crossed


class _Scope:
    """A query, update or deletion; *outer* are the given columns of the queries around it."""

    def __init__(self, query: Expression, outer: set[Column]) -> None:
        self.crossed: set[str] = set()
        self.gives: list[bool] = []  # for each column of a query, whether its values are given
        if isinstance(query, exp.Subquery | exp.Paren):
            query = query.this
        if isinstance(query, exp.SetOperation):
            both = [_Scope(part, outer) for part in (query.this, query.expression)]
            self.crossed = both[0].crossed | both[1].crossed
            self.gives = [all(each) for each in zip(*(one.gives for one in both), strict=True)]
            return
        self._outer = outer
        self._tables: dict[str, str] = {}  # by alias
        self._given_sources: set[str] = set()  # their columns are values
        self._given: set[Column] = set()
        self._conditions: list[Expression] = []
        self._inner_gives: list[bool] = []
        self._subqueries: list[Expression] = []
        self._find_sources(query)
        self._expand()
        self._equate()
        self.crossed = self._expand()  # again, because a lateral one depends on the columns of tables before it
        self._equate()
        self._look_into(query)
        for alias, table in self._tables.items():
            columns = DIVIDED_BY.get(table)
            if columns is not None and not any((alias, column) in self._given for column in columns):
                self.crossed.add(table)
        if isinstance(query, exp.Select):
            self.gives = [is_given for one in query.expressions for is_given in self._given_values(one)]

    def _find_sources(self, query: Expression) -> None:
        sources: list[Expression] = []
        if isinstance(query, exp.Update | exp.Delete):
            sources.append(query.this)
        if (origin := query.args.get("from_")) is not None:
            sources += [origin.this, *(join for join in origin.this.args.get("joins") or [])]
        for join in [*(query.args.get("joins") or []), *[one for one in sources if isinstance(one, exp.Join)]]:
            sources.append(join.this)
            if (condition := join.args.get("on")) is not None:
                self._conditions += _conjuncts(condition)
        if (where := query.args.get("where")) is not None:
            self._conditions += _conjuncts(where.this)
        for source in sources:
            if isinstance(source, exp.Lateral):
                source = exp.Subquery(this=source.this.unnest(), alias=source.args.get("alias"))
            if isinstance(source, exp.Subquery):
                self._subqueries.append(source)
            elif isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
                self._tables[source.alias_or_name] = source.name
            elif isinstance(source, exp.Table):  # a function that unpacks JSON
                self._given_sources.add(source.alias)

    def _expand(self) -> set[str]:
        """Analyse the queries that are sources of this one; return the tables in which they cross."""
        crossed: set[str] = set()
        self._inner_gives = []
        for source in self._subqueries:
            inner = _Scope(source.this, self._outer | self._given)
            crossed |= inner.crossed
            self._inner_gives += inner.gives
            names = [one.alias_or_name for one in source.this.expressions]
            given = zip(names, inner.gives, strict=False)  # "*" has one name, and the values of each column
            self._given |= {(source.alias, name) for name, is_given in given if is_given}
        return crossed

    def _equate(self) -> None:
        """Find the columns that are equated with given values, until there are no more."""
        before = -1
        while before < len(self._given):
            before = len(self._given)
            for condition in self._conditions:
                self._given |= set(self._equated(condition))
            for alias, table in self._tables.items():
                if any(all((alias, name) in self._given for name in key) for key in _KEYS.get(table, ())):
                    self._given |= {(alias, column.name) for column in TABLES[table].c}
                columns = {(alias, name) for name in DIVIDED_BY.get(table, ())}
                if columns & self._given:  # the pages of given sites are given, and the other way round
                    self._given |= columns

    def _equated(self, condition: Expression) -> Iterator[Column]:
        if isinstance(condition, exp.EQ):
            for one, other in ((condition.this, condition.expression), (condition.expression, condition.this)):
                if isinstance(one.unnest(), exp.Column) and self._is_given(other):
                    yield from self._column(one.unnest())
        elif isinstance(condition, exp.In):
            left = condition.this.unnest()
            columns = left.expressions if isinstance(left, exp.Tuple) else [left]
            query = condition.args.get("query")
            if query is not None:
                gives = _Scope(query.unnest(), self._outer | self._given).gives
            else:
                gives = [all(map(self._is_given, condition.expressions))] * len(columns)
            for column, is_given in zip(columns, gives, strict=True):
                if is_given and isinstance(column, exp.Column):
                    yield from self._column(column)

    def _look_into(self, query: Expression) -> None:
        """Analyse the queries within conditions and expressions."""
        inner: list[Expression] = [condition for condition in self._conditions]
        inner += query.expressions if isinstance(query, exp.Select | exp.Update) else []
        for part in inner:
            for found in _outermost_queries(part):
                self.crossed |= _Scope(found, self._outer | self._given).crossed

    def _given_values(self, value: Expression) -> list[bool]:
        return self._inner_gives if isinstance(value, exp.Star) else [self._is_given(value.unalias())]

    def _is_given(self, value: Expression) -> bool:
        if isinstance(value, exp.Subquery | exp.Select):
            return all(_Scope(value, self._outer | self._given).gives)
        if isinstance(value, exp.Column):
            return any(self._knows(column) for column in self._column(value))
        if isinstance(value, exp.Star):
            return False
        return all(self._is_given(one) for one in value.args.values() if isinstance(one, exp.Expression))

    def _knows(self, column: Column) -> bool:
        return column in self._given or column in self._outer or column[0] in self._given_sources

    def _column(self, column: exp.Column) -> Iterator[Column]:
        if column.table:
            yield column.table, column.name
            return
        of_tables = [
            alias for alias, table in self._tables.items() if table in TABLES and column.name in TABLES[table].c
        ]
        known = {alias for alias, name in self._given if name == column.name}
        yield from ((alias, column.name) for alias in (*of_tables, *known, *self._given_sources))


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, exp.And):
        yield from _conjuncts(condition.this)
        yield from _conjuncts(condition.expression)
    elif isinstance(condition, exp.Paren):
        yield from _conjuncts(condition.this)
    else:
        yield condition


def _outermost_queries(part: Expression) -> Iterable[Expression]:
    found: list[Expression] = []
    for query in part.find_all(exp.Select):
        ancestor = query.find_ancestor(exp.Select)
        if ancestor is None or ancestor is part.find_ancestor(exp.Select):
            found.append(query)
    return found
