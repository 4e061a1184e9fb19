"""Finds the date of publication that a page shows to its readers, near its headline."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlers.sites.date_notations import Precision, read_date

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlers.missions.news.article.page_lines import PageLine, PageLines

MAX_READ = 100  # lines that may be dates

_MAX_CHARS = 80  # of a line with a date, and little else
_NEAR = 60  # elements between the headline and its date
_FURTHER = 20  # elements away that a date counts as if it is that of a change, or no markup says that it is a date
_DIGITS = re.compile(r"\d{4}|年|\d\s?[./]\s?\d{1,2}\s?[./]\s?\d\d")
_NAMED = re.compile(r"date|time|publish|posted|created|byline|meta|stamp", re.I)
_CHANGED = re.compile(
    r"updat|modif|aktuali|geänd|stand:|mis à jour|actuali|aggiorn|обновл|оновл|güncel|zmien|更新|수정", re.I
)


def shown_date(page: PageLines, languages: Sequence[str], *, with_changes: bool = True) -> str:
    """Return the date that the *page* shows next to a headline, as written there; empty if there is none.

    On a page without headlines it is the first date. See `read_date` for *languages*. Without *with_changes*, lines
    that say that the page was changed then are ignored.
    """
    dates: list[tuple[int, str]] = []
    tried = 0
    for line in page.lines:
        if not with_changes and _CHANGED.search(line.text):
            continue
        for written in (line.node.get("datetime", "") if line.node.tag == "time" else "", line.text):
            if tried < MAX_READ and len(written) <= _MAX_CHARS and _DIGITS.search(written):
                tried += 1
                found = read_date(written, languages)
                if found is not None and found.precision >= Precision.DAY:
                    dates.append((page.distance(line) + _FURTHER * _doubts(line), written))
                    break
    distance, written = min(dates, key=lambda one: one[0], default=(0, ""))
    return written if distance <= _NEAR else ""


def _doubts(line: PageLine) -> int:
    is_named = line.node.tag == "time" or _NAMED.search(line.names) is not None
    return (not is_named) + (_CHANGED.search(line.text) is not None)
