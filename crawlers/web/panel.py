"""What the pages of the panel share: its state and forms, and templates in the language of the reader.

All text of strangers is escaped. The forms of endpoints that change something contain the token of the session.
"""

from __future__ import annotations

import errno
import http
import io
import logging
import re
from asyncio import Semaphore
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlencode

import jinja2
from babel import Locale, dates, numbers
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations
from markupsafe import Markup, escape
from sqlalchemy import select
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from crawlers.errors import CrawlersError, StoreError
from crawlers.files.csv_tables import clean, utc
from crawlers.inputs.program import suggested
from crawlers.mission import first_crawl, mission_named
from crawlers.reports.catalogue.registry import reports_about
from crawlers.reports.catalogue.report import NUMERIC, Kind
from crawlers.reports.crawl_manifest import crawl_rules
from crawlers.reports.histories.history import Count, Moment, Said, Url, Urls, because
from crawlers.store.reading.crawl_settings import settings_of
from crawlers.store.reading.queries import MAX_DIGITS, crawl_numbered
from crawlers.store.schema.tables import link, page, site
from crawlers.web.guard import Session, is_equal

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from jinja2.bccache import Bucket
    from starlette.datastructures import FormData
    from starlette.types import Message, Receive

    from crawlers.files.csv_tables import Value
    from crawlers.reports.catalogue.report import TimeLimit
    from crawlers.reports.crawl_manifest import CrawlRules
    from crawlers.reports.histories.history import Part
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl
    from crawlers.web.cached_results import CachedResults
    from crawlers.web.guard import Access
    from crawlers.web.starting import Starter

    Endpoint = Callable[[Request, FormData], Response]

logger = logging.getLogger(__name__)

TOKEN = "csrf"  # noqa: S105 - the name of a field
MAX_FIELDS = 2000
MAX_BYTES = 21_000_000  # of a form: a file of 20 MB, and the fields beside it
FEW_BYTES = 200_000  # of a form without a file, in which an address may stand
_UNSTORED = re.compile("[\0\ud800-\udfff]")


def session_of(request: Request) -> Session:
    """Return the session of *request*."""
    session = request.scope["session"]
    assert isinstance(session, Session)
    return session


def changes(path: str, endpoint: Endpoint, most_bytes: int = MAX_BYTES) -> Route:
    """Return the route of *endpoint*, which gets the form of a POST request that has the token of its session.

    Forms that have more than *most_bytes* are refused.
    """

    async def checked(request: Request) -> Response:
        try:
            form = await _form_of(request, most_bytes)
        except ClientDisconnect:
            return Response(status_code=400)  # which nobody reads
        try:
            given = form.get(TOKEN)
            if not isinstance(given, str) or not is_equal(given, session_of(request).token):
                raise HTTPException(403, "The page was open too long; load it again, then repeat what you did.")
            return await run_in_threadpool(endpoint, request, form)
        finally:
            await form.close()

    return Route(path, checked, methods=["POST"], name=endpoint.__name__)


async def _form_of(request: Request, most_bytes: int) -> FormData:
    """Return the form of *request*. Raises `HTTPException` if it is too large, or can't be stored."""
    limited = Request(request.scope, _limited(request.receive, most_bytes))
    try:
        form = await limited.form(max_files=1, max_fields=MAX_FIELDS, max_part_size=most_bytes)
    except UnicodeError:  # of a character set that the client has named
        raise HTTPException(400, "The form can't be decoded; send it as UTF-8.") from None
    if any(_UNSTORED.search(text) for field in form.multi_items() for text in field if isinstance(text, str)):
        await form.close()
        raise HTTPException(400, "A field contains a NUL or half a character, which can't be stored; remove it.")
    return form


def _limited(receive: Receive, most_bytes: int) -> Receive:
    """Return *receive* for a request whose body has at most *most_bytes*; it raises `HTTPException` beyond that."""
    left = most_bytes

    async def limited() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413, f"This form has more than {most_bytes:,} bytes; divide the file.")
        return message

    return limited


T = TypeVar("T")
SMALL = 2_000  # pages and links of a crawl, together, whose results take less than a second
FILES_AT_ONCE = 2  # that are made for browsers: each takes a processor, and a connection to the store
AGAIN = "again"  # in the query: the result is computed again


@dataclass(frozen=True, slots=True)
class Panel:
    """The store, who may see it, and what starts crawls, with files in *folder*."""

    database: Database
    access: Access
    starter: Starter
    folder: Path
    results: CachedResults
    turns: Semaphore = field(default_factory=lambda: Semaphore(FILES_AT_ONCE))  # see `downloads.sends_file`


def panel_of(request: Request) -> Panel:
    """Return the panel that serves *request*."""
    return cast("Panel", request.app.state.panel)


def crawl_of(request: Request) -> NamedCrawl:
    """Return the crawl whose number is in the path. Raises `HTTPException` if there is none."""
    return numbered_crawl(panel_of(request).database, request.path_params["crawl"])


def is_small(database: Database, crawl_id: int, most: int) -> bool:
    """Return whether a crawl has at most *most* pages and links, together; no more of them are counted."""
    pages = select(page.c.id).join(site, site.c.id == page.c.site_id).where(site.c.crawl_id == crawl_id)
    links = select(link.c.source_id).where(link.c.source_id.in_(pages))
    for rows in (pages, links):
        most -= len(database.rows(rows.limit(most + 1)))
        if most < 0:
            return False
    return True


def patience_for(request: Request, crawl: NamedCrawl) -> TimeLimit:
    """Return for how long a page waits for results about *crawl*: for those of a small one, until they are there."""
    panel = panel_of(request)
    return panel.results.patience(is_small=is_small(panel.database, crawl.id, SMALL))


def rules_of(database: Database, crawl_id: int) -> CrawlRules:
    """Return what a crawl did with URLs, by its settings, not by today's."""
    return crawl_rules(settings_of(database, crawl_id))


def number_in(request: Request, name: str) -> int:
    """Return the number *name* in the query of *request*; 0 if there is none, or none that a crawl can have."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else 0


def numbered_crawl(database: Database, number: int) -> NamedCrawl:
    """Return the crawl with that number. Raises `HTTPException` if there is none."""
    found = crawl_numbered(database, number)
    if found is None:
        raise HTTPException(404, f"There is no crawl {number} in the store.")
    return found


def known(of: Mapping[str, T], what: str, name: str) -> T:
    """Return *what* is called *name* *of* some. Raises `HTTPException` if there is none."""
    if name not in of:
        raise HTTPException(404, f"There is no {what} {name}; there are {', '.join(of)}.")
    return of[name]


def again(request: Request, key: Hashable) -> Response | None:
    """Forget the result of *key* if the address says so, and return the way to the address without it."""
    if AGAIN not in request.query_params:
        return None
    panel_of(request).results.forget(key)
    others = [(name, value) for name, value in request.query_params.multi_items() if name != AGAIN]
    return RedirectResponse(f"{request.url.path}?{urlencode(others)}", 303)


HERE = Path(__file__).parent
LANGUAGES = {"en": "English", "ru": "Русский", "zh": "中文"}
DECIMAL = "#,##0." + 12 * "#"  # also of small shares
MIN_TOLD_S = 120  # longer durations are told in minutes, hours, days …
THEMES = ("auto", "light", "dark")
INTERNAL_ERROR, NO_SUCH_PAGE = "Internal error; the details are in the log of scrapy web.", "There is no such page."
DISK_FULL = "The disk of the panel's machine is full; free some space, also for temporary files, then try again."
LANGUAGE_COOKIE, THEME_COOKIE = "crawlers-language", "crawlers-theme"


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return the page that *template* makes of *values*."""
    language = language_of(request)
    theme = request.cookies.get(THEME_COOKIE, THEMES[0])
    page = _environment(language).get_template(template)
    text = page.render(
        request=request,
        path=request.url.path,
        csrf=session_of(request).token,
        language=language,
        languages=LANGUAGES,
        theme=theme if theme in THEMES else THEMES[0],
        has_password=bool(panel_of(request).access.password),
        **values,
    )
    return HTMLResponse(clean(text), status)


def error_page(request: Request, error: Exception) -> HTMLResponse:
    """Return a page that says what went wrong, and what to do."""
    if isinstance(error, HTTPException):
        status, message = error.status_code, error.detail
    elif isinstance(error, CrawlersError):
        status, message = (503 if isinstance(error, StoreError) else 400), str(error)
    elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        logger.error("%s: %s", request.url.path, error)
        status, message = 507, DISK_FULL
    else:
        logger.error("Internal error at %s", request.url.path, exc_info=error)
        status, message = 500, INTERNAL_ERROR
    if message == http.HTTPStatus(status).phrase and status == http.HTTPStatus.NOT_FOUND:
        message = NO_SUCH_PAGE
    message = translated(message, language_of(request))  # if it has no values in it
    return render(request, "error.html", status, message=message, code=status)


def language_of(request: Request) -> str:
    """Return the language that the reader chose, else the first one of the browser that we know, else English."""
    accepted = [part.split(";")[0].strip()[:2] for part in request.headers.get("accept-language", "").split(",")]
    wanted = [request.cookies.get(LANGUAGE_COOKIE, ""), *accepted]
    return next((one for one in wanted if one in LANGUAGES), "en")


def catalogue_path(language: str) -> Path:
    """Return the file of the texts of *language*; English has none, because texts are found by it."""
    return HERE / "locale" / f"{language}.po"


@cache
def translations(language: str) -> NullTranslations:
    """Return the texts of *language*."""
    path = catalogue_path(language)
    if not path.exists():  # English, which the texts are written in
        return NullTranslations()
    with path.open("rb") as file:
        catalogue = read_po(file, locale=language)
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Translations(compiled)


def template(name: str, language: str = "en") -> jinja2.Template:
    """Return the template called *name*, for files that are no page of the panel."""
    return _environment(language).get_template(name)


def translated(text: str, language: str) -> str:
    """Return *text*, which was written in English, in *language* if it has a translation.

    Commands in it are those of the program that serves the panel.
    """
    return suggested(translations(language).ugettext(text)) if text else ""  # else the head of the translations


def compile_templates() -> None:
    """Compile all templates, so that no reader waits for it: some 0.3 s."""
    environment = _environment("en")
    for name in environment.list_templates(extensions=["html"]):
        environment.get_template(name)


def plain_text(said: Said, language: str) -> str:
    """Return the sentence *said* in *language*, without links."""
    return clean(_environment(language).filters["sentence"](said, escape).unescape())


class _Compiled(jinja2.BytecodeCache):
    """The compiled templates, which all languages share: texts are looked up when a page is made."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key] = bucket.bytecode_to_string()


_COMPILED = _Compiled()


@cache
def _environment(language: str) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([HERE / "templates", HERE.parent / "missions"]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
        optimized=False,  # filters of constants would be those of the language of the first reader
        bytecode_cache=_COMPILED,
    )
    texts = translations(language)
    say = partial(translated, language=language)
    environment.install_gettext_callables(say, texts.ungettext, newstyle=True)  # type: ignore[attr-defined]
    locale = Locale.parse(language)

    def number(value: float) -> str:
        return numbers.format_decimal(value, locale=locale)

    def size(value: float) -> str:
        for unit in ("B", "kB", "MB", "GB"):
            if value < 1000 or unit == "GB":
                break
            value /= 1000
        return f"{numbers.format_decimal(round(value, 1), locale=locale)} {unit}"

    def moment(seconds: float) -> str:
        return dates.format_datetime(seconds, "yyyy-MM-dd HH:mm", locale=locale)

    def cell(value: Value, kind: Kind) -> str:
        if value is None or value == "":  # whose translation would be the head of the catalogue
            return ""
        if isinstance(value, bool):
            return say("yes" if value else "no")
        if kind is Kind.STATE:
            return say(str(value))
        if kind is Kind.REASON:
            return reason(str(value))
        if kind is Kind.TIME and isinstance(value, float):
            return moment(value)
        if kind is Kind.SECONDS and isinstance(value, float) and abs(value) >= MIN_TOLD_S:
            return dates.format_timedelta(round(value), locale=locale)
        if kind is Kind.DECIMAL and isinstance(value, float):
            return numbers.format_decimal(float(f"{value:.4g}"), DECIMAL, locale=locale)
        if kind is Kind.BYTES and isinstance(value, int):
            return size(value)
        return number(value) if isinstance(value, (int, float)) else str(value)

    def second(seconds: float) -> str:
        return dates.format_datetime(seconds, "yyyy-MM-dd HH:mm:ss", locale=locale)

    def sentence(said: Said, link: Callable[[str], Markup]) -> Markup:
        """Return *said* in the language of the reader; *link* draws a URL."""

        def drawn(part: Part) -> Markup | str:
            if isinstance(part, Url):
                return link(part.url)
            if isinstance(part, Urls):
                some = Markup(", ").join(map(link, part.urls))
                more = part.total - len(part.urls)
                return some + f" +{number(more)}" if more else some
            if isinstance(part, Moment):
                return second(part.seconds)
            if isinstance(part, Count):
                return texts.ungettext(part.one, part.many, part.number) % {"number": number(part.number)}
            if isinstance(part, Said):
                return sentence(part, link)
            if isinstance(part, (int, float)):
                return number(part)
            return part

        template = escape(say(said.template))
        return template % {name: drawn(part) for name, part in said.parts.items()}

    def reason(stored: str) -> str:
        """Return a stored reason in the language of the reader."""
        return sentence(because(stored), escape)

    environment.filters.update(reason=reason)
    environment.filters.update(number=number, size=size, moment=moment, second=second, cell=cell, sentence=sentence)
    environment.filters.update(utc=utc, translated=say)  # for variables: what _() returns is not escaped
    environment.globals.update(Kind=Kind, NUMERIC=NUMERIC, suggested=suggested, first_crawl=first_crawl)
    environment.globals.update(mission_named=mission_named, reports_about=reports_about)
    return environment
