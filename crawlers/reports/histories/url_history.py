"""The history of any URL in a crawl: of pages, external URLs, texts that are not URLs, and unknown ones."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import func, select, text

from crawlers.errors import BadUrl
from crawlers.items import State
from crawlers.mission import mission_named
from crawlers.reasons import ROBOTS, Reason, code_of
from crawlers.reports.catalogue.conditions import Filters
from crawlers.reports.histories.change_history import change_events, kept_facts, sitemap_events
from crawlers.reports.histories.decisions import decision_events, remedies, robots_lines, waiting_facts
from crawlers.reports.histories.history import (
    N_,
    SHOWN,
    Count,
    Fact,
    History,
    Moment,
    Said,
    Subject,
    Topic,
    Url,
    Urls,
    because,
    event,
    fact,
    facts_about,
    further_urls,
    history,
    said,
    url_of,
)
from crawlers.reports.histories.linking_pages import LinkingPages, link_texts
from crawlers.reports.histories.score_history import score_facts
from crawlers.store.reading.queries import addresses_of
from crawlers.store.reading.url_counts import kind_of
from crawlers.store.schema.tables import SCORE_ROWS, external_url, link_features, message, metadata, page, site
from crawlers.store.schema.tables import crawl as crawled
from crawlers.store.sites.seeds import deleted_links
from crawlers.urls.keys import url_key
from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import normalize, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from crawlers.items import Target
    from crawlers.reports.crawl_manifest import CrawlRules
    from crawlers.reports.histories.history import Part
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl

BAD_LINK = "bad link"  # the state of a text that is not the address of a page
MAX_CHAIN = 20  # redirects
MAX_COMPARED = 1000  # pages with the same content, to find the one that represents them
# State is no parameter, so that the index is used.
_SAME = f"""
    SELECT id, url, level FROM page {{index}}
    WHERE site_id = :site AND content_hash = :hash AND state = {State.DONE:d} LIMIT :most"""  # noqa: S608
MAX_DUPLICATES = 20  # whose links count as those of their page


def url_history(
    database: Database, crawl: NamedCrawl, text: str, rules: CrawlRules, now: float, is_over: Callable[[], bool]
) -> History:
    """Return the history of the URL *text*, which may lack its scheme, or of a link that is not a URL.

    The rule is not replayed further when the time *is_over*; *now* is in seconds since 1970. Raises `StoreError`.
    """
    with database.read() as connection:
        deleted = [
            fact(
                Topic.LINKS,
                "of this crawl, %(number)s of the links that it found were deleted by hand (%(kind)s), the last "
                "ones %(at)s",
                number=one.number,
                kind=Said(one.kind, {}),
                at=Moment(one.at),
            )
            for one in deleted_links(connection, crawl.id)
        ]
    return _history(database, crawl, text, rules, now, is_over).with_facts(*deleted)


def _history(
    database: Database, crawl: NamedCrawl, text: str, rules: CrawlRules, now: float, is_over: Callable[[], bool]
) -> History:
    targets = possible_targets(database, crawl, text, rules.normalization)
    if not targets:
        return _bad_link(crawl, text, rules.normalization)
    with database.read() as connection:
        target, row = _page(connection, crawl, targets)
        if row is not None:
            return _PageHistory(connection, crawl, target, row, rules, now).history(is_over)
        for target in targets:
            if (found := _external(connection, crawl, target, rules, is_over)) is not None:
                return found
        return _unknown(connection, crawl, targets, rules)


def subject_of(database: Database, crawl: NamedCrawl, text: str, options: Normalization) -> Subject:
    """Return the subject of the `url_history` of *text* without the rest of it. Raises `StoreError`."""
    targets = possible_targets(database, crawl, text, options)
    if not targets:
        return Subject(raw=text)
    with database.read() as connection:
        _, row = _page(connection, crawl, targets)
        if row is not None:
            return Subject(_alike(row, _same_content(connection, row)))
        for target in targets:
            if (stored := _external_row(connection, target)) is not None:
                return Subject(external_id=stored.id)
    return Subject()


def _page(connection: Connection, crawl: NamedCrawl, targets: Sequence[Target]) -> tuple[Target, Any]:
    """Return the first of *targets* that is a page of the crawl, with its row; or with None if none is."""
    of_crawl = select(page).join(site, site.c.id == page.c.site_id).where(site.c.crawl_id == crawl.id)
    for target in targets:
        its = of_crawl.where(site.c.site == target.site, page.c.key == target.key)
        if (row := connection.execute(its).one_or_none()) is not None:
            return target, row
    return targets[0], None


def _same_content(connection: Connection, row: Any) -> Sequence[Any]:
    """Return the pages with the content of a page, the one that represents them first; or some, if there are many."""
    if row.content_hash is None or State(row.state) is not State.DONE:
        return ()
    index = "INDEXED BY page_of_content" if connection.dialect.name == "sqlite" else ""  # else it reads the site
    statement = text(_SAME.format(index=index))
    some = connection.execute(statement, {"site": row.site_id, "hash": row.content_hash, "most": MAX_COMPARED + 1})
    return sorted(some, key=lambda one: (one.level, one.url))


def _alike(row: Any, same: Sequence[Any]) -> tuple[int, ...]:
    """Return a page and those that are the same node of the graph: links to any of them lead to it."""
    return (row.id, *[one.id for one in same if one.id != row.id][: MAX_DUPLICATES - 1])


def possible_targets(database: Database, crawl: NamedCrawl, text: str, options: Normalization) -> list[Target]:
    """Return the URLs that *text*, such as example.org/page, may stand for; none if it is not the address of a page."""
    addresses = addresses_of(database, crawl.id)
    try:
        return [addresses.of_site(resolve(text, "", options))]
    except BadUrl:
        if "@" in text:
            return []  # an e-mail address
    try:
        targets = [resolve(f"{scheme}://{text}", "", options) for scheme in ("http", "https")]
    except BadUrl:
        return []
    named = select(site.c.site).where(site.c.crawl_id == crawl.id, site.c.site.in_([one.site for one in targets]))
    sites = set(database.scalars(named))
    return [addresses.of_site(one) for one in targets if one.site in sites or "." in one.site]


class _PageHistory:
    """The history of a page of the crawl."""

    def __init__(
        self, connection: Connection, crawl: NamedCrawl, target: Target, row: Any, rules: CrawlRules, now: float
    ) -> None:
        self._connection = connection
        self._crawl = crawl
        self._target = target
        self._row = row
        self._rules = rules
        self._now = now
        self._site = connection.execute(select(site).where(site.c.id == row.site_id)).one()
        self._state = State(row.state)
        self._kind = kind_of(self._state, row.status)

    def history(self, is_over: Callable[[], bool]) -> History:
        connection, row = self._connection, self._row
        same = _same_content(connection, row)
        facts = [*self._standing(), *self._content(same)]
        scored = score_facts(connection, self._crawl.id, row.id, is_over)
        if self._state is State.WAITING:
            facts += waiting_facts(connection, self._crawl.id, row, self._site, self._now, scored=self._has_scores())
        facts += [*scored, *self._found(), *self._judged()]
        if (of_mission := mission_named(self._crawl.mission).part("history")) is not None:
            facts += of_mission(connection, self._crawl.id, row)
        facts += change_events(connection, row.id)
        facts += kept_facts(connection, self._crawl, self._site, row)
        facts += decision_events(connection, self._crawl.id, row, self._rules, is_over)
        facts += sitemap_events(connection, row.site_id, row.key)
        return history(row.url, self._kind, [*facts, *self._requested()], Subject(_alike(row, same)))

    def _standing(self) -> list[Fact]:
        row = self._row
        state: dict[str, Part] = {"state": Said(self._kind, {}), "since": Moment(row.state_at)}
        if row.reason:
            first = said("%(state)s: %(reason)s, since %(since)s", reason=because(row.reason), **state)
        else:
            first = said("%(state)s, since %(since)s", **state)
        where: dict[str, Part] = {
            "crawl": self._crawl.name,
            "number": self._crawl.id,
            "level": row.level,
            "page": str(row.id),
        }
        lines = [
            first,
            said("in crawl %(crawl)s (number %(number)s), level %(level)s, page %(page)s", **where),
            said("known as %(url)s", url=self._target.normalized),
        ]
        if row.moved_to is not None:
            lines.append(said("redirects to %(url)s", url=Url(url_of(self._connection, row.moved_to))))
        return facts_about(Topic.STATE, lines)

    def _has_scores(self) -> bool:
        return any(
            self._connection.execute(select(table.c.page_id).where(table.c.page_id == self._row.id)).scalar()
            is not None
            for table in (*(metadata.tables[name] for name in SCORE_ROWS), link_features)
        )

    def _content(self, same: Sequence[Any]) -> list[Fact]:
        row = self._row
        lines = [said("title: %(title)s", title=row.title)] if row.title else []
        if row.canonical and row.canonical != row.url:
            lines.append(said("names %(url)s as its canonical URL", url=Url(row.canonical)))
        return facts_about(Topic.CONTENT, [*lines, *self._copies(same)])

    def _copies(self, urls: Sequence[Any]) -> list[Said]:
        row = self._row
        if not urls:
            return []
        if row.duplicates:
            return [
                said(
                    "represents %(urls)s with the same content, whose rows were deleted",
                    urls=further_urls(row.duplicates),
                )
            ]
        if len(urls) == 1:
            return [said("no other page has the same content")]
        if len(urls) > MAX_COMPARED:
            return [said("more than %(number)s URLs of its site have the same content", number=MAX_COMPARED)]
        first = urls[0]
        if first.id == row.id:
            others = tuple(one.url for one in urls[1 : SHOWN + 1])
            return [
                said(
                    "represents %(number)s with the same content: %(urls)s",
                    number=further_urls(len(urls) - 1),
                    urls=Urls(others, len(urls) - 1),
                )
            ]
        return [said("a duplicate of %(url)s, which represents it in the graph", url=Url(first.url))]

    def _found(self) -> list[Fact]:
        row = self._row
        if row.found_on is None:
            return [event(row.found_at, Topic.FOUND, "found in the list of sites", self._form())]
        source = Url(url_of(self._connection, row.found_on))
        anchor, position = link_texts(self._connection, [row.found_on], [row.id]).get(row.found_on, ("", ""))
        as_text, in_place = N_('found on %(page)s as "%(text)s"'), N_('found on %(page)s as "%(text)s" in %(place)s')
        template = in_place if anchor and position else as_text if anchor else N_("found on %(page)s")
        where: dict[str, Part] = {"page": source, "text": anchor, "place": Said(position, {})}
        return [event(row.found_at, Topic.FOUND, template, self._form(), **where)]

    def _form(self) -> tuple[Said, ...]:
        lines = form_lines(self._row.url, self._rules.normalization)
        if not self._row.url.startswith(f"{self._target.site}/"):
            lines = (*lines, said("its address belongs to the site %(site)s", site=Url(f"{self._target.site}/")))
        return lines

    def _judged(self) -> list[Fact]:
        row = self._row
        if self._state is not State.REJECTED:
            return []
        further = remedies(row.reason)
        if code_of(row.reason) in ROBOTS:
            further = (*further, *robots_lines(self._site, row.url, self._rules.robots_token))
        return [event(row.state_at, Topic.FILTER, "not requested: %(reason)s", further, reason=because(row.reason))]

    def _requested(self) -> list[Fact]:
        row = self._row
        if row.fetched_at is None or self._state is State.REJECTED:
            return []
        response: dict[str, Part] = {
            "attempt": row.attempts,
            "status": row.status or 0,
            "type": row.content_type or because(Reason.NO_CONTENT_TYPE),
            "size": row.size_bytes or 0,
        }
        template = N_("requested, attempt %(attempt)s: no response")
        if row.status:
            template = N_("requested, attempt %(attempt)s: status %(status)s, %(type)s, %(size)s bytes")
        events = [event(row.fetched_at, Topic.REQUEST, template, **response)]
        if self._state in (State.REFUSED, State.FAILED):
            why: dict[str, Part] = {"state": Said(self._kind, {}), "reason": because(row.reason)}
            events.append(event(row.state_at, Topic.REQUEST, "%(state)s: %(reason)s", **why))
        if row.moved_to is not None:
            events.append(event(row.state_at, Topic.REQUEST, "redirects", self._chain()))
        return events

    def _chain(self) -> list[Said]:
        """Return where the redirect leads, and those of its targets, up to the last one."""
        lines: list[Said] = []
        passed, number = {self._row.id}, self._row.moved_to
        while number is not None and len(lines) < MAX_CHAIN:
            columns = (page.c.url, page.c.state, page.c.status, page.c.moved_to)
            row = self._connection.execute(select(*columns).where(page.c.id == number)).one_or_none()
            if row is None:
                lines.append(said("to page %(number)s, whose row was deleted", number=str(number)))
                break
            kind = kind_of(State(row.state), row.status)
            parts: dict[str, Part] = {"url": Url(row.url), "state": Said(kind, {})}
            if row.status:
                lines.append(said("to %(url)s: %(state)s, status %(status)s", status=row.status, **parts))
            else:
                lines.append(said("to %(url)s: %(state)s", **parts))
            if number in passed:
                lines.append(said("which is a loop"))
                break
            passed.add(number)
            number = row.moved_to
        return lines


def form_lines(url: str, options: Normalization) -> tuple[Said, ...]:
    """Return the steps that changed *url* to its normal form."""
    return tuple(
        said(
            "normal form, %(step)s: %(url)s",
            step="URL standard" if step.name == "url_standard" else step.name,
            url=step.url,
        )
        for step in form_steps(url, options)
    )


STANDARD = "url_standard"  # the step before all others: what every browser does to a URL


class FormStep(NamedTuple):
    """A step that changed the URL: `STANDARD` or a field of `Normalization`, and the URL after it."""

    name: str
    url: str


def form_steps(url: str, options: Normalization) -> list[FormStep]:
    """Return the steps that changed the absolute *url*, in the order of the fields; the last one has its normal form.

    Raises `BadUrl` as `normalize` does.

    >>> for step in form_steps("http://a.example/b/?y=1&x=2&utm_source=z", Normalization()):
    ...     print(step.name, step.url)
    sort_parameters http://a.example/b/?utm_source=z&x=2&y=1
    ignored_parameters http://a.example/b/?x=2&y=1

    Notes
    -----
    The steps of *options* are switched on one after another, so each one is what `normalize` does, and nothing is
    computed in two ways.
    """
    names = [field.name for field in fields(Normalization) if field.init]
    switched: dict[str, Any] = {name: type(getattr(options, name))() for name in names}
    before, steps = url, []
    for name in (STANDARD, *names):
        if name != STANDARD:
            switched[name] = getattr(options, name)
        after = normalize(url, Normalization(**switched))
        if after != before:
            steps.append(FormStep(name, after))
        before = after
    return steps if before != url else []


def _bad_link(crawl: NamedCrawl, raw: str, options: Normalization) -> History:
    reason: str = Reason.NOT_A_URL
    try:
        resolve("http://page.invalid/", raw, options)  # as the link of a page
    except BadUrl as error:
        reason = error.reason
    facts = [
        fact(Topic.STATE, "a bad link: %(reason)s; not followed", reason=because(reason)),
        fact(Topic.STATE, "in crawl %(crawl)s (number %(number)s)", crawl=crawl.name, number=crawl.id),
    ]
    return history(raw, BAD_LINK, facts, Subject(raw=raw))


def _external(
    connection: Connection, crawl: NamedCrawl, target: Target, rules: CrawlRules, is_over: Callable[[], bool]
) -> History | None:
    """Return the history of an external URL; None if no page of this crawl links to it, even if those of others do."""
    row = _external_row(connection, target)
    if row is None:
        return None
    steps = LinkingPages(Subject(external_id=row.id)).steps(connection, crawl.id, Filters(), None)
    if not any(step.rows or is_over() for step in steps):
        return None
    facts = [
        fact(Topic.STATE, "external: its site is not part of the crawl; not followed"),
        fact(Topic.STATE, "in crawl %(crawl)s (number %(number)s)", crawl=crawl.name, number=crawl.id),
        *_known_as(target, rules),
    ]
    return history(row.url, "external", facts, Subject(external_id=row.id))


def _known_as(target: Target, rules: CrawlRules) -> list[Fact]:
    known = fact(Topic.STATE, "known as %(url)s", url=target.normalized)
    return [known, *facts_about(Topic.NORMAL_FORM, form_lines(target.url, rules.normalization))]


def _external_row(connection: Connection, target: Target) -> Any:
    return connection.execute(select(external_url).where(external_url.c.id == url_key(target.url))).one_or_none()


def _unknown(connection: Connection, crawl: NamedCrawl, targets: Sequence[Target], rules: CrawlRules) -> History:
    target = targets[0]
    facts = [
        fact(Topic.STATE, "never found in the crawl %(crawl)s (number %(number)s)", crawl=crawl.name, number=crawl.id),
        *_known_as(target, rules),
    ]
    other = connection.execute(
        select(crawled.c.id, crawled.c.name)
        .join(site, site.c.crawl_id == crawled.c.id)
        .join(page, page.c.site_id == site.c.id)
        .where(site.c.site.in_([one.site for one in targets]), page.c.key.in_([one.key for one in targets]))
        .order_by(crawled.c.id.desc())
        .limit(1)
    ).one_or_none()
    if other is not None:
        there = {"crawl": other.name, "number": other.id}
        facts.append(
            fact(Topic.STATE, "found in the crawl %(crawl)s (number %(number)s): add --crawl %(number)s", **there)
        )
    named = {one.site: one for one in targets}
    of_site = (site.c.crawl_id == crawl.id, site.c.site.in_(list(named)))
    row = connection.execute(select(site).where(*of_site).limit(1)).one_or_none()
    if row is not None:
        facts += sitemap_events(connection, row.id, named[row.site].key)
    return history(target.url, "unknown", facts + _advice(connection, crawl, targets, row, rules), Subject())


def _advice(
    connection: Connection, crawl: NamedCrawl, targets: Sequence[Target], row: Any, rules: CrawlRules
) -> list[Fact]:
    """Return what to do about a URL that was not found; *row* is its site, None if that is not one of the crawl."""
    if row is None:
        name, host = Url(f"{targets[0].site}/"), urlsplit(targets[0].site).hostname or ""
        alike = select(site.c.site).where(site.c.crawl_id == crawl.id, site.c.site.contains(host, autoescape=True))
        advice = [
            said("the crawl has another site of this host, %(site)s; begin the URL with that", site=Url(f"{one}/"))
            for one in connection.scalars(alike.order_by(site.c.id))
            if urlsplit(one).hostname == host
        ][:SHOWN] or [
            said("its site %(site)s is not part of the crawl; add it to the list of sites to crawl it", site=name)
        ]
        return facts_about(Topic.ADVICE, advice)
    target = next(one for one in targets if one.site == row.site)
    advice = []
    sent = connection.execute(
        select(message.c.source_id, message.c.sent_at)
        .where(message.c.crawl_id == crawl.id, message.c.site_id == row.id, message.c.key == target.key)
        .limit(1)
    ).one_or_none()
    if sent is not None:
        advice.append(
            said(
                "%(page)s links to it since %(at)s, but the worker of its site has not taken that up yet",
                page=Url(url_of(connection, sent.source_id)),
                at=Moment(sent.sent_at),
            )
        )
    if row.availability is not None:
        advice.append(said("its site is not available: %(why)s", why=because(row.availability)))
    waiting = connection.execute(
        select(func.count()).where(page.c.site_id == row.id, page.c.state == int(State.WAITING))
    ).scalar_one()
    if waiting:
        urls = Count(
            waiting,
            "%(number)s URL of its site waits; it may link to it",
            "%(number)s URLs of its site wait; pages that link to it may be among them",
        )
        advice.append(said("%(urls)s", urls=urls))
    else:
        advice.append(
            said(
                "no page of its site that was read links to it; if nothing does, name it as the start URL of the "
                "site in the list of sites"
            )
        )
    refused = [one for one in robots_lines(row, target.url, rules.robots_token) if "rule" in one.parts]
    return facts_about(Topic.ADVICE, [*advice, *refused])
