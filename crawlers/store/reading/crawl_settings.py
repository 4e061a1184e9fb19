"""Reads the settings that the last run of a crawl recorded, and values that are stored like one: the result folder.

No crawl replaces the files of a crawl of another name. A crawl claims its folder when it first writes there.
"""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, or_, select

from crawlers.store.database import lock_name
from crawlers.store.schema.tables import SettingRow, crawl, crawler_setting
from crawlers.store.writing.bulk_writer import write_changes
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection, Select

    from crawlers.store.database import Database


def setting_of(crawl_id: int, name: str) -> Select[str]:
    """Return the query for the value of one setting of a crawl."""
    of_crawl = (crawler_setting.c.crawl_id == crawl_id, crawler_setting.c.name == name)
    return select(crawler_setting.c.value).where(*of_crawl)


def recorded(connection: Connection, crawl_id: int, *names: str) -> dict[str, str]:
    """Return the settings of a crawl as texts: those called *names*, or all."""
    statement = select(crawler_setting.c.name, crawler_setting.c.value).where(crawler_setting.c.crawl_id == crawl_id)
    if names:
        statement = statement.where(crawler_setting.c.name.in_(names))
    return {name: value for name, value in connection.execute(statement)}


def record(connection: Connection, crawl_id: int, values: Mapping[str, Any]) -> None:
    """Store settings of a crawl, or values that are stored like some, as texts."""
    write_changes(connection, ChangeSet(*(SettingRow(crawl_id, name, str(value)) for name, value in values.items())))


def settings_of(database: Database, crawl_id: int) -> dict[str, str]:
    """Return all settings of a crawl as texts."""
    with database.read() as connection:
        return recorded(connection, crawl_id)


FOLDER = "folder"  # the name under which the absolute path is stored; `folder 2` and so on: those of earlier runs
MAX_NAME = 60  # characters of the name of a crawl that name its folder
_UNFIT = re.compile(r"[^\w.+ -]|^\.+")
_IS_CLAIM = or_(crawler_setting.c.name == FOLDER, crawler_setting.c.name.startswith(f"{FOLDER} "))


def claimed_folder(database: Database, crawl_id: int, wanted: Path, *, is_own: bool = False) -> Path:
    """Return the folder in which a crawl writes its results, and let crawls of other names keep out of it.

    It is that of `free_folder`. What the crawl claimed in earlier runs stays its own. The claim has a transaction of
    its own, so a running crawl makes it when its writer is closed.
    """
    with database.write() as connection:
        lock_name(connection, "result folder")
        folder = free_folder(connection, crawl_id, wanted, is_own=is_own)
        own = select(crawler_setting.c.name, crawler_setting.c.value).where(crawler_setting.c.crawl_id == crawl_id)
        claims = {row.name: row.value for row in connection.execute(own.where(_IS_CLAIM))}
        latest = str(folder.absolute())
        former = claims.pop(FOLDER, latest)
        further = {f"{FOLDER} {len(claims) + 2}": former} if former not in (latest, *claims.values()) else {}
        record(connection, crawl_id, {FOLDER: latest, **further})
    return folder


def free_folder(connection: Connection, crawl_id: int, wanted: Path, *, is_own: bool = False) -> Path:
    """Return the *wanted* folder, or the one below it that is named by the crawl if a crawl of another name has it.

    If the crawl *is_own* in its folder, not even an earlier crawl of its name may have written there: then the folder
    is named by the number of the crawl, too.
    """
    name = connection.execute(select(crawl.c.name).where(crawl.c.id == crawl_id)).scalar_one()
    of_others = (
        select(crawler_setting.c.value)
        .join(crawl, crawl.c.id == crawler_setting.c.crawl_id)
        .where(_IS_CLAIM, crawl.c.name != name)
    )
    taken = set(connection.execute(of_others).scalars())
    own = wanted / folder_name(name, crawl_id)
    if str(own.absolute()) in taken:  # the name of another crawl ends with this number
        further = (own.with_name(f"{own.name}.{number}") for number in count(2))
        own = next(one for one in further if str(one.absolute()) not in taken)
    if is_own:
        return own
    return next((one for one in (wanted, wanted / folder_name(name)) if str(one.absolute()) not in taken), own)


def folder_name(name: str, number: int | None = None) -> str:
    """Return the name of a folder for the crawl *name*, or for the one of that name with a *number*.

    >>> folder_name("spring"), folder_name("../my/own", 7)
    ('spring', '__my_own-7')
    """
    fit = _UNFIT.sub("_", name)[:MAX_NAME].strip(" .") or "_"
    return fit if number is None else f"{fit}-{number}"


def recorded_folder(connection: Connection, crawl_id: int) -> Path | None:
    """Return the absolute path of the folder in which a crawl wrote results, on the machine that ended it; None: none.

    A later crawl of the same name may have written there as well, see `successor`.
    """
    value = connection.scalar(setting_of(crawl_id, FOLDER))
    return None if value is None else Path(value)


def successor(connection: Connection, crawl_id: int, folder: Path) -> int | None:
    """Return the number of the latest crawl after *crawl_id* that wrote its results to the same *folder*, if any."""
    of_folder = (_IS_CLAIM, crawler_setting.c.value == str(folder), crawler_setting.c.crawl_id > crawl_id)
    return connection.execute(select(func.max(crawler_setting.c.crawl_id)).where(*of_folder)).scalar()


def replaced_crawl(connection: Connection, crawl_id: int, wanted: Path) -> int | None:
    """Return the number of the earlier crawl whose files in the `free_folder` a crawl will replace; None: none."""
    folder = free_folder(connection, crawl_id, wanted)
    of_folder = (_IS_CLAIM, crawler_setting.c.value == str(folder.absolute()), crawler_setting.c.crawl_id < crawl_id)
    number = connection.execute(select(func.max(crawler_setting.c.crawl_id)).where(*of_folder)).scalar()
    return number if any(folder.glob("*")) else None
