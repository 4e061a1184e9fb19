"""Facts and events of histories as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.reports.histories.history import history
from crawlers.reports.histories.history_text import history_lines

if TYPE_CHECKING:
    from crawlers.reports.histories.history import Event, Fact


def lines(facts: list[Fact], events: list[Event]) -> list[str]:
    return history_lines(history("", "", facts, events))[1:]
