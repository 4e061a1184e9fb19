"""Lets a process join a crawl that others run: with the same command, and a share of the sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.errors import ConfigError
from crawlers.store.reading.crawl_settings import recorded
from crawlers.store.reading.run_command import ANOTHER, check_mission
from crawlers.store.schema.tables import site
from crawlers.store.worker_rows import finisher
from crawlers.workers.exchange import claim_share

__all__ = ["check_joining", "claim_share"]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from crawlers.store.reading.run_command import Command
    from crawlers.store.worker_rows import WorkerRow


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
