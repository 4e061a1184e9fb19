"""The command by which a process begins or joins a crawl; to join one that others run, it must be the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawlers.errors import ConfigError, CrawlEnded, StoreError
from crawlers.store.database import shown_url
from crawlers.store.reading.crawl_settings import recorded
from crawlers.store.schema.tables import crawl, site
from crawlers.workers.workers import finisher, is_over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from crawlers.store.sites.site_opening import SiteList
    from crawlers.workers.workers import WorkerRow

ANOTHER = "give this crawl another name: -s CRAWL=another"


@dataclass(frozen=True, slots=True)
class Command:
    """What a process was told to crawl."""

    name: str  # of the crawl
    mission: str
    manifest: Mapping[str, Any]  # what is stored of the run
    sites: SiteList
    can_be_joined: bool = True  # false for spiders that are not missions of this project: one process runs their crawls
    processes: int = 1  # which are started at once with this command
    rejoins: int | None = None  # the number of the only crawl that this process may work on: it did so before

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that are recorded with a crawl."""
        return {**self.manifest.get("settings", {})}


def check_mission(connection: Connection, crawl_id: int, command: Command) -> None:
    """Raise `ConfigError` if the crawl has another mission."""
    known = connection.execute(select(crawl.c.mission).where(crawl.c.id == crawl_id)).scalar_one()
    if known != command.mission:
        raise ConfigError(
            f"CRAWL={command.name} is an unfinished crawl of the mission {known}, not {command.mission}; {ANOTHER}"
        )


def check_rejoining(connection: Connection, unfinished_id: int | None, command: Command) -> None:
    """Raise `CrawlEnded` if the crawl that the process rejoins is not the unfinished one, or is about to end.

    Raises `StoreError` if the store has no such crawl: it is not the store in which the crawl began.
    """
    crawl_id = command.rejoins
    if crawl_id is None:
        return
    if connection.execute(select(crawl.c.id).where(crawl.c.id == crawl_id)).scalar() is None:
        raise StoreError(
            f"{shown_url(connection.engine.url)} has no crawl {crawl_id} any more, so its workers were "
            "stopped; restore it and run the same command again, or remove what is left of it to begin anew"
        )
    if crawl_id != unfinished_id or is_over(connection, crawl_id):
        raise CrawlEnded(f"the crawl {command.name} has ended, so there is nothing left to do")


def check_joining(connection: Connection, crawl_id: int, others: Sequence[WorkerRow], command: Command) -> None:
    """Raise `ConfigError` if a process with this command can't join the crawl of *others*."""
    name, listed = command.name, command.sites.names
    check_mission(connection, crawl_id, command)
    ending = finisher(connection, crawl_id)
    for other in others:
        if other.id == ending:
            raise ConfigError(
                f"CRAWL={name} is ending: {other.name} writes its outputs; wait for it, then run the same command again"
            )
    by = others[0].name
    if not command.can_be_joined:
        raise ConfigError(
            f"CRAWL={name} is being run by {by}, and {command.mission} is a spider of your own, which runs in one "
            f"process; wait for it, stop it, or {ANOTHER}"
        )
    joins = f"to join the crawl {name} of {by}, or {ANOTHER}"
    stored = recorded(connection, crawl_id)
    for setting, value in command.settings.items():
        if stored.get(setting, str(value)) != str(value):
            raise ConfigError(f"{setting}={value}: give {setting}={stored[setting]} {joins}")
    if not listed:
        return
    crawled = select(site.c.site).where(site.c.crawl_id == crawl_id, site.c.is_open)
    known = frozenset(connection.execute(crawled).scalars())
    differences = sorted(listed ^ known if command.sites.keeps is None else listed - known)
    if differences:
        first = differences[0]
        what = "is not one of its sites" if first in listed else "is missing from the list of sites"
        raise ConfigError(f"{first} {what}; give the same sites {joins}")
