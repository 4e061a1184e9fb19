"""Temporary PostgreSQL servers for the tests, started once from the installed programs."""

import os
import pwd
import shlex
import shutil
import signal
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest

from crawlers.store.database import Database
from tests.support.processes import until

ADMIN = "postgres"
_numbers = count(1)

SHAPE = """
    SELECT relname, relkind, relnatts FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY relname"""

OTHERS_END = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid != pg_backend_pid()"""


def unavailable(why):
    """Skip the test; fail it if the variable CI is set, where nothing may be missing."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


def store_kinds(metafunc):
    """Return the kinds of stores on which a test is run."""
    return ["sqlite", "postgresql"] if metafunc.definition.get_closest_marker("both_stores") else ["sqlite"]


def postgresql_programs():
    """Return the folder of initdb and pg_ctl, of the newest installed version."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    folders = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(folders, key=lambda path: float(path.parent.name), default=None)


def _server_user():
    """Return arguments of `subprocess` that run PostgreSQL as another user, because it refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@contextmanager
def running_postgresql():
    """Yield the socket folder of a server that runs during the block; its only user is ADMIN."""
    programs = postgresql_programs()
    if programs is None:
        unavailable("no PostgreSQL server installed")
    assert programs is not None
    user = _server_user()
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # pytest's own folders are closed to other users
    if user:
        os.chown(folder, user["user"], user["group"])
    data = folder / "data"
    stop = [str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop"]
    initdb = [str(programs / "initdb"), "-D", str(data), "-U", ADMIN, "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
    with _at_the_end(f"{shlex.join(stop)}; rm -rf {shlex.quote(str(folder))}", user):
        assert _succeeds(folder, *initdb)
        assert start_postgresql(folder)
        yield folder


def start_postgresql(folder):
    """Start the server of that folder; return whether it accepts connections."""
    programs = postgresql_programs()
    assert programs is not None
    options = f"-F -c listen_addresses='' -c unix_socket_directories='{folder}' -c max_connections=100"
    pg_ctl = [str(programs / "pg_ctl"), "-D", str(folder / "data")]
    return _succeeds(folder, *pg_ctl, "-w", "-l", str(folder / "server.log"), "-o", options, "start")


def _succeeds(folder, *command):
    with (folder / "commands.log").open("ab") as log:
        user = _server_user()
        ended = subprocess.run(command, check=False, cwd=folder, stdout=log, stderr=log, timeout=60, **user)
    return ended.returncode == 0


def stop_postgresql(folder, number):
    """Send a signal to the server of that folder, such as SIGKILL, and wait for its end."""
    process = int((folder / "data/postmaster.pid").read_text("utf-8").split()[0])
    os.kill(process, number)
    until(lambda: not Path(f"/proc/{process}").exists(), "the end of the server")


def restart_postgresql(folder):
    """Kill the server of that folder with SIGKILL, and start it again."""
    stop_postgresql(folder, signal.SIGKILL)
    # It does not start until the last process of the killed one has noticed the end of its parent.
    until(lambda: start_postgresql(folder), "the start of the server")


@contextmanager
def _at_the_end(command, user):
    """Run *command* in a shell at the end of the block, even if this process is killed within it."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"}
    # The shell waits for the end of its input, which comes when our end of the pipe is closed for any reason.
    shell = ["sh", "-c", f"read line; {command}"]
    with subprocess.Popen(shell, stdin=subprocess.PIPE, start_new_session=True, **quiet, **user) as process:
        try:
            yield
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(60)


@contextmanager
def fresh_database(socket):
    """Yield the URL of an empty database that is dropped at the end of the block."""
    name = f"test{next(_numbers)}"
    with _administration(socket) as connection:
        # Twice as fast; the only strategy before version 15.
        strategy = "STRATEGY file_copy" if connection.info.server_version >= 150_000 else ""
        connection.execute(f"CREATE DATABASE {name} {strategy}")
    try:
        yield f"postgresql+psycopg://{ADMIN}@/{name}?host={socket}"
    finally:
        with _administration(socket) as connection:  # another one, because a test may have restarted the server
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _administration(socket):
    return psycopg.connect(host=str(socket), user=ADMIN, dbname="postgres", autocommit=True)


class PostgresqlStore:
    """An empty store that is cleared for the next test, which takes a hundredth of the time of creating another.

    A store whose tables were changed by a test is replaced.
    """

    def __init__(self, socket):
        self._socket = socket
        self._stack = ExitStack()
        self._make()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _make(self):
        self.url = self._stack.enter_context(fresh_database(self._socket))
        Database(self.url).close()
        with self._connect() as connection:
            self._shape = connection.execute(SHAPE).fetchall()
            names = [name for name, kind, _ in self._shape if kind == "r"]
            rows = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}
        self._deletions = "".join(f"DELETE FROM {name};" for name in names)
        self._rows = [(name, row) for name in names for row in rows[name]]  # those of a new store

    def clear(self):
        """Restore the initial state."""
        with self._connect() as connection:
            connection.execute(OTHERS_END)
            is_whole = connection.execute(SHAPE).fetchall() == self._shape
            if is_whole:
                connection.execute(self._deletions)
                connection.execute(
                    "SELECT setval(quote_ident(sequencename)::regclass, start_value, false) FROM pg_sequences"
                )
                for name, row in self._rows:
                    connection.execute(f"INSERT INTO {name} VALUES ({', '.join(['%s'] * len(row))})", row)
        if not is_whole:
            self._stack.close()
            self._make()

    def _connect(self):
        return psycopg.connect(self.url.replace("+psycopg", ""))
