"""A connection to PostgreSQL that notices a server that no longer responds.

TCP notices a network that loses packets. If a proxy or a frozen server accepts them, and does nothing, a statement
would wait for ever. So if there is no response for some seconds, another connection asks about the statement: it may
take any time, but only as long as the server is at work on it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Self, TypeVar

from psycopg import Connection, Error, OperationalError
from sqlalchemy import create_engine, event

if TYPE_CHECKING:
    from collections.abc import Generator

    from sqlalchemy import URL, Engine

T = TypeVar("T")

LEAST_CONNECT_S = 2  # of libpq
# Seconds (in the last line milliseconds) until a network that loses packets is given up; without them, hours.
TCP_TIMEOUTS = {
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
# The server, too, must notice that this machine was lost: until then it keeps the locks of the session.
_OPENING = """
    SELECT pg_backend_pid(), count(set_config(name, value, false))
    FROM unnest(%s::text[], %s::text[]) AS setting (name, value)"""
# A process of the server that waits for us ("Client") sends what we do not receive.
_IS_AT_WORK = """
    SELECT 1 FROM pg_stat_activity
    WHERE pid = %s AND state = 'active' AND wait_event_type IS DISTINCT FROM 'Client'"""


class ServerConnection(Connection[Any]):
    """Ends with an `OperationalError` if the server sends nothing for *silence_s* seconds, unless it is at work.

    Whether it works on a statement is asked if the number of its process is known.
    """

    silence_s = 10.0
    _process = 0  # of the server; 0: not known

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **kwargs: Any) -> T:
        """Wait for *gen*, as all methods of psycopg that wait for the server do."""
        return super().wait(self._bounded(gen), *args, **kwargs)

    def _bounded(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        heard_at = time.monotonic()
        is_given_up = False
        ready = None
        while True:
            try:
                awaited = gen.send(ready)
            except StopIteration as end:
                result: T = end.value
                return result
            ready = yield awaited  # 0 several times a second, as long as nothing can be received or sent
            if ready:
                heard_at, is_given_up = time.monotonic(), False
            elif is_given_up:
                self.close()
                raise OperationalError(f"the server did not respond for {self.silence_s:g} s")
            elif time.monotonic() - heard_at >= self.silence_s:
                is_given_up = not self._is_at_work()  # it may have responded meanwhile, so we look once more
                heard_at = time.monotonic()

    @classmethod
    def open(cls, silence_s: float, **options: Any) -> Self:
        """Return an open connection; *options* are those of `psycopg.connect`. Raises `psycopg.Error`."""
        timeouts = {"connect_timeout": max(LEAST_CONNECT_S, round(silence_s)), **TCP_TIMEOUTS}
        connection = cls.connect(**timeouts | options, autocommit=True)
        try:
            names = [f"tcp_{name.removeprefix('tcp_')}" for name in TCP_TIMEOUTS]
            # Not `info.backend_pid`: behind a pool such as PgBouncer, that is not the number of a process.
            found = connection.execute(_OPENING, [names, [*map(str, TCP_TIMEOUTS.values())]]).fetchone()
            connection.autocommit = False
        except BaseException:
            connection.close()
            raise
        assert found is not None
        connection.silence_s = silence_s
        connection._process = found[0]
        return connection

    def _is_at_work(self) -> bool:
        """Whether the silence is that of a statement that takes long."""
        if not self._process:
            return False
        try:
            with ServerConnection.connect(self.info.dsn, password=self.info.password, autocommit=True) as asking:
                asking.silence_s = max(LEAST_CONNECT_S, self.silence_s)
                return asking.execute(_IS_AT_WORK, [self._process]).fetchone() is not None
        except Error:
            return False


def server_engine(url: URL, silence_s: float) -> Engine:
    """Return an engine of SQLAlchemy whose connections give a server up after about *silence_s* seconds."""
    engine = create_engine(url, pool_pre_ping=True)

    @event.listens_for(engine, "do_connect")
    def _connect(_dialect: Any, _record: Any, _arguments: Any, options: dict[str, Any]) -> ServerConnection:
        return ServerConnection.open(silence_s, **options)

    return engine
