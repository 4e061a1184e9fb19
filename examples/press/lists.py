"""The pages that list articles: home, sections, tags, authors, calendar of the archive, search."""

from __future__ import annotations

from calendar import monthrange
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from examples.press.frame import LISTED, anchor, page, teasers

if TYPE_CHECKING:
    from examples.press.frame import Desk
    from examples.press.newsroom import Group, Head

_ON_HOME = 15
_OF_AUTHOR = 5


def _heads(desk: Desk, group: Group, value: str) -> list[Head]:
    """Return the articles of a group, newest first."""
    return [desk.room.head(number) for number in reversed(desk.room.listed(group, value, desk.now))]


def home(desk: Desk) -> str:
    """Return the home page: the newest articles of all and of each section."""
    parts = [teasers(desk, desk.newest(_ON_HOME))]
    for name in desk.plan.sections:
        newest = _heads(desk, "section", name)[:3]
        parts.append(f"<h2>{anchor(desk.url('section', section=name), name.title())}</h2>{teasers(desk, newest)}")
    return page(desk, "home", desk.plan.title, "".join(parts))


def _paged(desk: Desk, kind: str, number: int, title: str, heads: list[Head], **fields: str) -> str | None:
    """Return page *number*, from 1, of the list *kind* with the articles *heads*; None if it is empty."""
    begin = (number - 1) * LISTED
    shown = heads[begin : begin + LISTED]
    if not shown:
        return None
    links = []
    if number == 2:
        links.append(anchor(desk.url(kind, **fields), "Newer"))
    if number > 2:
        links.append(anchor(desk.url(f"{kind}_page", page=number - 1, **fields), "Newer"))
    if len(heads) > begin + LISTED:
        links.append(anchor(desk.url(f"{kind}_page", page=number + 1, **fields), "Older"))
    contents = f"<h2>{title}</h2>{teasers(desk, shown)}<p>{' '.join(links)}</p>"
    return page(desk, f"{kind} {fields} {number}", f"{title}, page {number}" if number > 1 else title, contents)


def section(desk: Desk, name: str, number: int) -> str | None:
    """Return a page of a section's articles."""
    return _paged(desk, "section", number, name.title(), _heads(desk, "section", name), section=name)


def latest(desk: Desk, number: int) -> str | None:
    """Return a page of all articles, newest first."""
    return _paged(desk, "latest", number, "Latest news", desk.newest(desk.room.count(desk.now)))


def tag(desk: Desk, name: str, number: int) -> str | None:
    """Return a page of the articles about a town."""
    return _paged(desk, "tag", number, f"News on {name}", _heads(desk, "tag", name), tag=name)


def author(desk: Desk, name: str) -> str | None:
    """Return the page of an author's latest articles."""
    heads = _heads(desk, "author", name)[:_OF_AUTHOR]
    if not heads:
        return None
    full = heads[0].author
    return page(desk, f"author {name}", full, f"<h2>{full}</h2><p>Writes for us.</p>{teasers(desk, heads)}")


def search(desk: Desk, word: str) -> str:
    """Return the results of a search for *word*, which may be empty."""
    found = teasers(desk, _heads(desk, "tag", word)) or "Nothing was found."
    return page(desk, f"search {word}", "Search", f"<h2>Search</h2>{found}")


def _span(desk: Desk) -> tuple[datetime, datetime]:
    """Return the days of the first article and of today, by the clock of the site."""
    now = datetime.fromtimestamp(desk.now, timezone(timedelta(hours=desk.plan.zone_h)))
    return (desk.room.head(0).published if desk.room.count(desk.now) else now), now


def archive(desk: Desk) -> str:
    """The years."""
    first, last = _span(desk)
    links = "".join(anchor(desk.url("year", year=year), str(year)) for year in range(first.year, last.year + 1))
    return page(desk, "archive", "Archive", f"<h2>Archive</h2>{links}")


def year(desk: Desk, number: int) -> str | None:
    """Return the page of the months of a year."""
    first, last = _span(desk)
    months = [
        f"{month:02}"
        for month in range(1, 13)
        if (first.year, first.month) <= (number, month) <= (last.year, last.month)
    ]
    if not months:
        return None
    links = "".join(anchor(desk.url("month", year=number, month=month), f"{month}/{number}") for month in months)
    return page(desk, f"year {number}", f"Archive of {number}", links)


def month(desk: Desk, of_year: int, number: int) -> str | None:
    """Return the page of the days of a month."""
    first, last = _span(desk)
    if not 1 <= number <= 12 or not (first.year, first.month) <= (of_year, number) <= (last.year, last.month):
        return None
    days = range(1, monthrange(of_year, number)[1] + 1)
    dates = [(of_year, number, day) for day in days]
    known = [date for date in dates if first.timetuple()[:3] <= date <= last.timetuple()[:3]]
    links = "".join(
        anchor(desk.url("day", year=of_year, month=f"{number:02}", day=f"{day:02}"), str(day)) for _, _, day in known
    )
    return page(desk, f"month {of_year} {number}", f"Archive of {number}/{of_year}", links)


def day(desk: Desk, of_year: int, of_month: int, number: int) -> str | None:
    """Return the articles of a day; days without articles have a page if they are between the first and today."""
    first, last = _span(desk)
    wanted = (of_year, of_month, number)
    if not first.timetuple()[:3] <= wanted <= last.timetuple()[:3]:
        return None
    heads = _heads(desk, "day", f"{of_year}-{of_month:02}-{number:02}")
    title = f"News of {number}.{of_month}.{of_year}"
    return page(desk, f"day {wanted}", title, f"<h2>{title}</h2>{teasers(desk, heads)}")
