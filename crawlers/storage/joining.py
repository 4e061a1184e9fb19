"""Whether a process may join a crawl that others run: it must have been given the same command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawlers.errors import ConfigError, CrawlEnded, StoreError
from crawlers.storage.crawl_settings import recorded
from crawlers.storage.database import shown_url
from crawlers.storage.schema.tables import crawl, site
from crawlers.storage.workers import finisher, is_over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from crawlers.storage.workers import WorkerRow

ANOTHER = "give this crawl another name: -s CRAWL=another"


@dataclass(frozen=True, slots=True)
class Command:
    """What a process was told to crawl."""

    name: str  # of the crawl
    mission: str
    settings: Mapping[str, Any]  # those that are recorded with a crawl
    sites: frozenset[str]  # their names; none: those of the crawl
    finds_sites: bool = False  # the crawl has sites that it discovered


def check_mission(connection: Connection, crawl_id: int, name: str, mission: str) -> None:
    """Raise `ConfigError` if the crawl has another mission."""
    known = connection.execute(select(crawl.c.mission).where(crawl.c.id == crawl_id)).scalar_one()
    if known != mission:
        raise ConfigError(f"CRAWL={name} is an unfinished crawl of the mission {known}, not {mission}; {ANOTHER}")


def check_rejoining(connection: Connection, unfinished_id: int | None, crawl_id: int, name: str) -> None:
    """Raise `CrawlEnded` if the crawl *crawl_id* is not the unfinished one, or is about to end.

    Raises `StoreError` if the store has no such crawl: it is not the store in which the crawl began.
    """
    if connection.execute(select(crawl.c.id).where(crawl.c.id == crawl_id)).scalar() is None:
        raise StoreError(
            f"{shown_url(connection.engine.url)} has no crawl {crawl_id} any more, so its workers were "
            "stopped; restore it and run the same command again, or remove what is left of it to begin anew"
        )
    if crawl_id != unfinished_id or is_over(connection, crawl_id):
        raise CrawlEnded(f"the crawl {name} has ended, so there is nothing left to do")


def check_joining(
    connection: Connection, crawl_id: int, others: Sequence[WorkerRow], command: Command, *, can_be_joined: bool
) -> None:
    """Raise `ConfigError` if a process with this command can't join the crawl of *others*.

    *can_be_joined* is false for spiders that are not missions of this project: one process runs their crawls.
    """
    name, mission = command.name, command.mission
    check_mission(connection, crawl_id, name, mission)
    ending = finisher(connection, crawl_id)
    for other in others:
        if other.id == ending:
            raise ConfigError(
                f"CRAWL={name} is ending: {other.name} writes its outputs; wait for it, then run the same command again"
            )
    by = others[0].name
    if not can_be_joined:
        raise ConfigError(
            f"CRAWL={name} is being run by {by}, and {mission} is a spider of your own, which runs in one process; "
            f"wait for it, stop it, or {ANOTHER}"
        )
    joins = f"to join the crawl {name} of {by}, or {ANOTHER}"
    stored = recorded(connection, crawl_id)
    for setting, value in command.settings.items():
        if stored.get(setting, str(value)) != str(value):
            raise ConfigError(f"{setting}={value}: give {setting}={stored[setting]} {joins}")
    if not command.sites:
        return
    crawled = select(site.c.site).where(site.c.crawl_id == crawl_id, site.c.is_open)
    known = frozenset(connection.execute(crawled).scalars())
    differences = sorted(command.sites - known if command.finds_sites else command.sites ^ known)
    if differences:
        first = differences[0]
        what = "is not one of its sites" if first in command.sites else "is missing from the list of sites"
        raise ConfigError(f"{first} {what}; give the same sites {joins}")
