"""The values of a history, facts about the present and events in order of time; and their rendering as text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from crawlers.reasons import parsed
from crawlers.store.reading.url_counts import UrlKind
from crawlers.store.schema.tables import page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import Connection


class Url(NamedTuple):
    """A URL that has a history of its own."""

    url: str


class Urls(NamedTuple):
    """The first of *total* URLs."""

    urls: tuple[str, ...]
    total: int


class Moment(NamedTuple):
    """A time, in seconds since 1970."""

    seconds: float


class Count(NamedTuple):
    """A number of things, with the sentences for one and for any other number."""

    number: int
    one: str  # %(number)s page
    many: str  # %(number)s pages


SHOWN = 5  # of a list; more are counted
STATES = (*UrlKind, "external", "bad link", "unknown")


class Said(NamedTuple):
    """A sentence: an English template, by which translations are found, and the parts that it names as %(name)s.

    *further* sentences belong to it.
    """

    template: str
    parts: Mapping[str, Part]
    further: tuple[Said, ...] = ()


Part = str | int | float | Url | Urls | Moment | Count | Said


class Topic(Enum):
    """What facts and events are about; facts are shown in this order. The value is a heading."""

    STATE = "State"
    WAITING = "Waits for"
    ADVICE = "What to do"
    CONTENT = "Content"
    LINKS = "Links to it"
    SCORE = "Score"
    MISSION = ""  # what only this mission knows: its name is the heading
    KEPT = "Kept in"
    FOUND = "Found"
    NORMAL_FORM = "Normal form"
    FILTER = "Filters"
    DECISION = "Decision"
    REQUEST = "Request"
    CHANGE = "Changes"


class Fact(NamedTuple):
    """What is true now; or an event, which happened at a time, in seconds since 1970."""

    topic: Topic
    said: Said
    at: float | None = None


class Subject(NamedTuple):
    """What links may lead to: a page with its duplicates, an external URL, or a text that is not a URL."""

    page_ids: tuple[int, ...] = ()
    external_id: int | None = None
    raw: str | None = None

    @property
    def is_anything(self) -> bool:
        """Whether a link may lead to it."""
        return bool(self.page_ids) or self.external_id is not None or self.raw is not None


@dataclass(frozen=True, slots=True)
class History:
    """The history of a URL: facts by topic, events by time."""

    url: str
    state: str  # of `STATES`
    facts: tuple[Fact, ...]
    events: tuple[Fact, ...]
    subject: Subject

    def with_facts(self, *facts: Fact) -> History:
        """Return the history with further *facts*."""
        return history(self.url, self.state, [*self.facts, *self.events, *facts], self.subject)


def history(url: str, state: str, facts: Sequence[Fact], subject: Subject) -> History:
    """Return the history with these *facts* and events in order; those of the same topic or time keep theirs."""
    topics = list(Topic)
    return History(
        url,
        state,
        tuple(sorted((one for one in facts if one.at is None), key=lambda fact: topics.index(fact.topic))),
        tuple(sorted((one for one in facts if one.at is not None), key=lambda event: event.at or 0.0)),
        subject,
    )


def N_(text: str) -> str:
    """Return *text*: the name that gettext's tools know marks a literal that is translated where it is shown."""
    return text


def because(reason: str) -> Said:
    """Return the sentence of a stored *reason*."""
    code, texts = parsed(reason)
    parts: dict[str, Part] = {**texts}
    if "why" in texts:
        parts["why"] = because(texts["why"])
    if "number" in texts:
        parts["number"] = int(texts["number"])
    return Said(code.sentence, parts)


def said(template: str, further: Iterable[Said] = (), /, **parts: Part) -> Said:
    """Return the sentence of *template* and its *parts*, with *further* ones that belong to it."""
    return Said(template, parts, tuple(further))


def fact(topic: Topic, template: str, further: Iterable[Said] = (), /, **parts: Part) -> Fact:
    """Return a sentence as a fact."""
    return Fact(topic, said(template, further, **parts))


def facts_about(topic: Topic, sentences: Iterable[Said]) -> list[Fact]:
    """Return *sentences* as facts about one topic."""
    return [Fact(topic, one) for one in sentences]


def event(at: float, topic: Topic, template: str, further: Iterable[Said] = (), /, **parts: Part) -> Fact:
    """Return a sentence as an event."""
    return Fact(topic, said(template, further, **parts), at)


def counted_pages(number: int) -> Count:
    """Return a number of pages."""
    return Count(number, "%(number)s page", "%(number)s pages")


def counted_times(number: int) -> Count:
    """Return how many times something happened."""
    return Count(number, "%(number)s time", "%(number)s times")


def further_urls(number: int) -> Count:
    """Return a number of further URLs."""
    return Count(number, "%(number)s further URL", "%(number)s further URLs")


def history_lines(history: History) -> list[str]:
    """Return the history for a terminal: the URL, the facts, and the events with their times."""
    return [history.url, *fact_lines([*history.facts, *history.events])]


def fact_lines(facts: Sequence[Fact]) -> list[str]:
    """Return *facts*, those that belong to another one indented below it."""
    lines = []
    for fact in facts:
        first, *further = _lines(fact.said)
        lines += [f"  {first}" if fact.at is None else f"  {when(fact.at)} {first}", *further]
    return lines


def sentence(said: Said) -> str:
    """Return *said* in English.

    >>> sentence(said("moved to %(url)s, %(pages)s", url=Url("http://a.example/"), pages=counted_pages(1)))
    'moved to http://a.example/, 1 page'
    """
    return said.template % {name: _text(part) for name, part in said.parts.items()}


def _lines(said: Said, depth: int = 1) -> Iterator[str]:
    yield sentence(said)
    for further in said.further:
        first, *deeper = _lines(further, depth + 1)
        yield from ("  " * (depth + 1) + first, *deeper)


def _text(part: Part) -> str:
    if isinstance(part, Url):
        return part.url
    if isinstance(part, Urls):
        more = part.total - len(part.urls)
        return ", ".join(part.urls) + (f" and {more:,} more" if more else "")
    if isinstance(part, Moment):
        return when(part.seconds)
    if isinstance(part, Count):
        return (part.one if part.number == 1 else part.many) % {"number": f"{part.number:,}"}
    if isinstance(part, Said):
        return sentence(part)
    if isinstance(part, float):
        return f"{part:.6g}"
    return str(part)


def when(seconds: float) -> str:
    """Return a time, given in seconds since 1970, as text.

    >>> when(1e9)
    '2001-09-09 01:46:40+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ", timespec="seconds")


def url_of(connection: Connection, page_id: int) -> str:
    """Return the URL of a page, or its number if its row was deleted."""
    return str(connection.execute(select(page.c.url).where(page.c.id == page_id)).scalar() or f"page {page_id}")
