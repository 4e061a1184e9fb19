"""The panel's pages of news: the reader of a document, never as the HTML that it was, and the trial of URL rules."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.routing import Route

from crawlers.errors import BadUrl, ConfigError
from crawlers.inputs.program import program
from crawlers.missions.news.feeds.sources_file import check_rule
from crawlers.missions.news.reports.document_history import read_document
from crawlers.missions.news.reports.document_list import Documents
from crawlers.missions.news.reports.url_rule_trial import decision, probability_at, rules_at, trial
from crawlers.missions.news.urls.url_tokens import target_of_url
from crawlers.reports.catalogue.conditions import FILTERS, Filters, parsed_filters, wanted_sites
from crawlers.reports.catalogue.report import TimeLimit
from crawlers.urls.resolution import resolve, site_of
from crawlers.urls.url_expressions import UrlExpressions
from crawlers.web.panel import crawl_of, number_in, panel_of, render

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.missions.news.reports.url_rule_trial import Decision
    from crawlers.missions.news.urls.stored_rules import StoredRule

SEARCH_S = 0.1  # for the copies and both neighbours together

DOCUMENTS = Documents()


def document(request: Request) -> Response:
    """Show a document, and those before and after it in the list that the filters show."""
    crawl, query = crawl_of(request), request.query_params
    given = {name: query[name] for name in FILTERS if query.get(name, "").strip()}
    filters = parsed_filters(given, DOCUMENTS.filters)
    number, version = request.path_params["number"], number_in(request, "version") or None
    if number >= 2**63 or (query.get("version") and version is None):
        raise HTTPException(404, "There is no such document.")
    is_over = TimeLimit(SEARCH_S)
    with panel_of(request).database.read() as connection:
        found = read_document(connection, crawl.id, number, version, is_over)
        if found is None:
            raise HTTPException(404, f"The crawl {crawl.name} has no document {number}, or not in this version.")
        neighbours = DOCUMENTS.neighbours(connection, crawl.id, filters, number, is_over)
    return render(
        request,
        "news/edge/templates/document.html",
        crawl=crawl,
        document=found,
        neighbours=neighbours,
        query=urlencode(given),
        versions={one.version: urlencode({**given, "version": one.version}) for one in found.versions},
    )


TRIED_URLS = 5_000
TRIAL_S = 0.15  # then what was tried so far is shown
OFFERED_SITES = 500  # beyond that, a name is typed
SHOWN_RULES = 100
MAX_RULE_CHARS = 4_000  # the address of a page has no more
MAX_URL_CHARS = 4_000


class UrlTest(NamedTuple):
    """What was asked for one URL: the deciding rule of the store, and whether the typed rule matches."""

    url: str
    decision: Decision
    is_matched: bool | None  # None: no rule was typed
    probability: float | None  # that it is an article; None: a rule of people decides, or nothing is learnt


def rules(request: Request) -> Response:
    """Show which URLs a rule matches, which rule decides about a URL, and the rules of a site."""
    crawl, query = crawl_of(request), request.query_params
    typed = {name: query.get(name, "").strip() for name in ("site", "rule", "url")}
    problems: dict[str, str] = {}
    tried, tested = None, None
    known: list[StoredRule] = []
    with panel_of(request).database.read() as connection:
        names = list(wanted_sites(connection, crawl.id, Filters(), OFFERED_SITES).values())
        expressions = _expressions(typed["rule"], problems)
        try:
            tested = _tested(connection, crawl.id, typed["url"], expressions)
            if tested is not None and not typed["site"]:
                typed["site"] = site_of(tested.url)
        except (BadUrl, ConfigError, MemoryError) as error:
            problems["url"] = str(error)
        name = typed["site"] or (names[0] if names else "")
        chosen = wanted_sites(connection, crawl.id, Filters(site=name), OFFERED_SITES) if name else {}
        if name and not chosen:
            problems["site"] = f"{name} is not a site of this crawl."
        elif name:
            known = rules_at(connection, next(iter(chosen.values())))
        if expressions is not None and chosen:
            try:
                tried = trial(connection, list(chosen), expressions, TRIED_URLS, TimeLimit(TRIAL_S))
            except MemoryError as error:
                problems["rule"] = f"{error}; simplify the rule."
    return render(
        request,
        "news/edge/templates/rules.html",
        crawl=crawl,
        typed={**typed, "site": name},
        names=names,
        problems=problems,
        tried=tried,
        tested=tested,
        known=known[:SHOWN_RULES],
        more_rules=max(0, len(known) - SHOWN_RULES),
        command=f"{program()} sites add-rule {shlex.quote(name)} {shlex.quote(typed['rule'])}",
    )


def _expressions(rule: str, problems: dict[str, str]) -> UrlExpressions | None:
    """Return the typed *rule*, or None and put what is wrong with it into *problems*."""
    if not rule:
        return None
    if len(rule) > MAX_RULE_CHARS:
        problems["rule"] = f"A rule has at most {MAX_RULE_CHARS:,} characters here; split it into several rules."
        return None
    try:
        check_rule(rule)
        return UrlExpressions([rule])
    except ConfigError as error:
        problems["rule"] = str(error)
        return None


def _tested(connection: Connection, crawl_id: int, url: str, expressions: UrlExpressions | None) -> UrlTest | None:
    if not url:
        return None
    if len(url) > MAX_URL_CHARS:
        raise ConfigError(f"A URL has at most {MAX_URL_CHARS:,} characters here.")
    absolute = resolve(url if "://" in url else f"http://{url}", "").url
    is_matched = None if expressions is None else bool(expressions.matching(target_of_url(absolute)))
    found = decision(connection, absolute)
    return UrlTest(absolute, found, is_matched, probability_at(connection, crawl_id, absolute, found))


ROUTES = [
    Route("/crawls/{crawl:int}/documents/{number:int}", document),
    Route("/crawls/{crawl:int}/rules", rules),
]
