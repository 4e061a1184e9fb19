"""Facts and events of histories as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.reports.histories.history import Subject, history, history_lines

if TYPE_CHECKING:
    from crawlers.reports.histories.history import Fact


def lines(facts: list[Fact]) -> list[str]:
    return history_lines(history("", "", facts, Subject()))[1:]
