"""The command by which a process begins, resumes or joins a crawl."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawlers.errors import ConfigError, CrawlEnded, StoreError
from crawlers.store import worker_rows
from crawlers.store.database import shown_url
from crawlers.store.schema.tables import crawl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from crawlers.store.sites.site_opening import SiteList

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
    if crawl_id != unfinished_id or worker_rows.ending(connection, crawl_id) != (None, False):
        raise CrawlEnded(f"the crawl {command.name} has ended, so there is nothing left to do")
