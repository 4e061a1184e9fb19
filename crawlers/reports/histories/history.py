"""The values of a history: facts about the present, and events in order of time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from crawlers.reasons import parsed
from crawlers.storage.url_counts import UrlKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


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


STATES = (*UrlKind, "external", "bad link", "unknown")


class Said(NamedTuple):
    """A sentence: an English template, by which translations are found, and the parts that it names as %(name)s."""

    template: str
    parts: Mapping[str, Part]


Part = str | int | float | Url | Urls | Moment | Count | Said


class Line(NamedTuple):
    """A sentence, with further ones that belong to it."""

    said: Said
    further: tuple[Line, ...] = ()


class Topic(Enum):
    """What facts and events are about; facts are shown in this order. The value is a heading."""

    STATE = "State"
    WAITING = "Waits for"
    ADVICE = "What to do"
    CONTENT = "Content"
    LINKS = "Links to it"
    SCORE = "Score"
    NEWS = "News"
    KEPT = "Kept in"
    FOUND = "Found"
    NORMAL_FORM = "Normal form"
    FILTER = "Filters"
    DECISION = "Decision"
    REQUEST = "Request"
    CHANGE = "Changes"


class Fact(NamedTuple):
    """What is true now."""

    topic: Topic
    line: Line


class Event(NamedTuple):
    """What happened at a time, in seconds since 1970."""

    at: float
    topic: Topic
    line: Line


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
    events: tuple[Event, ...]
    subject: Subject

    def with_facts(self, *facts: Fact) -> History:
        """Return the history with further *facts*."""
        return history(self.url, self.state, [*self.facts, *facts], self.events, self.subject)


def history(
    url: str,
    state: str,
    facts: list[Fact],
    events: list[Event] | tuple[Event, ...],
    subject: Subject | None = None,
) -> History:
    """Return the history with these *facts* and *events* in order; those of the same topic or time keep theirs."""
    topics = list(Topic)
    return History(
        url,
        state,
        tuple(sorted(facts, key=lambda fact: topics.index(fact.topic))),
        tuple(sorted(events, key=lambda event: event.at)),
        subject or Subject(),
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


def said(template: str, **parts: Part) -> Said:
    """Return the sentence of *template* and its *parts*."""
    return Said(template, parts)


def line(template: str, further: Iterable[Line] = (), /, **parts: Part) -> Line:
    """Return a sentence as a line, with *further* ones that belong to it."""
    return Line(Said(template, parts), tuple(further))


def fact(topic: Topic, template: str, further: Iterable[Line] = (), /, **parts: Part) -> Fact:
    """Return a sentence as a fact."""
    return Fact(topic, line(template, further, **parts))


def facts_about(topic: Topic, lines: Iterable[Line]) -> list[Fact]:
    """Return *lines* as facts about one topic."""
    return [Fact(topic, one) for one in lines]


def event(at: float, topic: Topic, template: str, further: Iterable[Line] = (), /, **parts: Part) -> Event:
    """Return a sentence as an event."""
    return Event(at, topic, line(template, further, **parts))


def counted_pages(number: int) -> Count:
    """Return a number of pages."""
    return Count(number, "%(number)s page", "%(number)s pages")


def counted_times(number: int) -> Count:
    """Return how many times something happened."""
    return Count(number, "%(number)s time", "%(number)s times")


def further_urls(number: int) -> Count:
    """Return a number of further URLs."""
    return Count(number, "%(number)s further URL", "%(number)s further URLs")
