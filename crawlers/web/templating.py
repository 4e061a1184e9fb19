"""Makes pages from templates: in the language of the reader, and with all text of strangers escaped."""

from __future__ import annotations

import errno
import http
import io
import logging
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from babel import Locale, dates, numbers
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations
from markupsafe import Markup, escape
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse

from crawlers.errors import CrawlersError, StoreError
from crawlers.files.csv_tables import clean, utc
from crawlers.inputs.program import suggested
from crawlers.mission import mission_named
from crawlers.reports.catalogue.registry import reports_about
from crawlers.reports.catalogue.report import NUMERIC, Kind
from crawlers.reports.histories.history import Count, Moment, Said, Url, Urls, because
from crawlers.web.panel import panel_of, session_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2.bccache import Bucket
    from starlette.requests import Request

    from crawlers.files.csv_tables import Value
    from crawlers.reports.histories.history import Part

logger = logging.getLogger(__name__)
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
    return suggested(translations(language).ugettext(text))


def compile_templates() -> None:
    """Compile all templates, so that no reader waits for it: some 0.3 s."""
    environment = _environment("en")
    for name in environment.list_templates():
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
        loader=jinja2.FileSystemLoader(HERE / "templates"),
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
    environment.globals.update(Kind=Kind, NUMERIC=NUMERIC, suggested=suggested)
    environment.globals.update(mission_named=mission_named, reports_about=reports_about)
    return environment
