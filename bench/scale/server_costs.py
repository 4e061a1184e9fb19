"""What statements cost the server: seconds of a processor, and bytes of its log, which other programs do not change."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection


def cpu_s(connection: Connection) -> float:
    """Return the seconds of a processor that the server's process behind *connection* has used, as Linux counts them.

    With SQLite, those of this thread.
    """
    if connection.dialect.name == "sqlite":
        return time.thread_time()
    process = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9


def log_bytes(connection: Connection) -> int:
    """Return the bytes that PostgreSQL has written to its write-ahead log; 0 with SQLite."""
    if connection.dialect.name == "sqlite":
        return 0
    return int(connection.exec_driver_sql("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')").scalar_one())
