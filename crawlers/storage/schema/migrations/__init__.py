"""Upgrades a database to the tables of this version with alembic.

The scripts are numbered in `versions/`. In a zipped egg (scrapyd) they are not files, so they are unpacked for
alembic first; a database that is up to date skips both steps.
"""

from __future__ import annotations

import logging
import tempfile
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from crawlers.errors import StoreVersionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

HEAD = max(entry.name[:4] for entry in files(f"{__package__}.versions").iterdir() if entry.name[:4].isdigit())
_LOCK = 0x6372_6177  # "craw"; the locks of storage.locks are pairs, a separate key space in PostgreSQL


def upgrade(engine: Engine, name: str, *, create: bool = True) -> None:
    """Create the tables of this version, or upgrade older ones; *name* is the database's name in messages."""
    version = _version(engine)
    if version == HEAD:
        return
    if version is not None and version > HEAD:
        raise StoreVersionError(
            f"DATABASE_URL={name} was written by a newer version of this program (schema {version}, this one "
            f"knows {HEAD}); upgrade the program, or name another database"
        )
    if not create:
        raise StoreVersionError(
            f"DATABASE_URL={name} has {'no crawl' if version is None else 'an older schema, ' + version}; "
            "run a crawl on it first"
        )
    logging.getLogger("alembic").setLevel(logging.WARNING)  # creating a new store needs no message
    from alembic import command
    from alembic.config import Config

    with (
        _scripts() as folder,
        engine.connect().execution_options(writes=True) as connection,
        connection.begin(),
    ):
        if connection.dialect.name == "postgresql":
            # Jobs that start together may all find the tables missing. (In SQLite, BEGIN IMMEDIATE admits one.)
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        config = Config()
        config.set_main_option("script_location", str(folder).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, HEAD)


def _version(engine: Engine) -> str | None:
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        return str(found) if found is not None else None


@contextmanager
def _scripts() -> Iterator[Path]:
    here = files(__package__)
    if isinstance(here, Path):
        yield here
        return
    with tempfile.TemporaryDirectory() as temporary:
        target = Path(temporary)
        (target / "versions").mkdir()
        for source, folder in ((here, target), (here / "versions", target / "versions")):
            for entry in source.iterdir():
                if entry.is_file() and entry.name.endswith((".py", ".mako")):
                    (folder / entry.name).write_bytes(entry.read_bytes())
        yield target
