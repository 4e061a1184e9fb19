"""Puts the panel together: its routes, in front of them the guard, what all pages share; and serves it over HTTP."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from importlib import import_module
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

import uvicorn
from sqlalchemy import event
from sqlalchemy.exc import DisconnectionError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from crawlers.errors import ConfigError, CrawlersError
from crawlers.files.atomic import identity_of
from crawlers.mission import parts_of_all
from crawlers.web import pages
from crawlers.web.cached_results import CachedResults
from crawlers.web.guard import Access, Guard
from crawlers.web.panel import Panel, compile_templates, error_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.pool import ConnectionPoolEntry

    from crawlers.store.database import Database
    from crawlers.web.starting import Starter

STATIC = Path(__file__).parent / "static"
SUBJECTS = [import_module(f"{pages.__name__}.{module.name}") for module in iter_modules(pages.__path__)]
SUBJECTS += parts_of_all("panel")
ROUTES = [route for subject in SUBJECTS for route in subject.ROUTES]
SMALLEST_COMPRESSED = 1000  # bytes


def follow_file(database: Database) -> None:
    """Let *database* read and write whatever file has the name of the store from now on, if that is a file.

    This is for programs that outlive a store: their connections would keep a file that was removed or replaced.
    """
    path = database.path
    if path is None:
        return

    @event.listens_for(database.engine, "connect")
    def _remember(_connection: Any, record: ConnectionPoolEntry) -> None:
        record.info["file"] = identity_of(path)

    @event.listens_for(database.engine, "checkout")
    def _compare(_connection: Any, record: ConnectionPoolEntry, _proxy: Any) -> None:
        if record.info.get("file") != identity_of(path):
            raise DisconnectionError  # the pool opens another one


def panel(
    database: Database, access: Access, starter: Starter, folder: Path, results: CachedResults | None = None
) -> Starlette:
    """Return the ASGI application of the panel of *database* for those whom *access* lets in.

    *starter* starts crawls, whose files are in *folder*; *results* keeps what takes long to compute.
    """
    compile_templates()
    app = Starlette(
        routes=[*ROUTES, Mount("/static", StaticFiles(directory=STATIC), name="static")],
        middleware=[Middleware(GZipMiddleware, minimum_size=SMALLEST_COMPRESSED)],
        exception_handlers={
            HTTPException: error_page,
            CrawlersError: error_page,
            OSError: error_page,
            Exception: error_page,
        },
    )
    # Not as a middleware: Starlette handles `Exception` in front of all of these, and so without the guard's headers.
    app.middleware_stack = Guard(app.build_middleware_stack(), access)
    app.state.panel = Panel(database, access, starter, folder, results or CachedResults())
    return app


DEFAULT_PORTS = (80, 443)
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
MAX_PORT = 65535
MIN_PASSWORD_CHARS = 8
MAX_CONNECTIONS = 500  # that are open, also those of clients that send nothing; further requests get status 503
CLOSE_S = 2  # for requests that are being answered
_NAME = re.compile(r"(?:\[(?P<address>[^\[\]]+)\]|(?P<host>[^\s:/\[\]]+))(?::(?P<port>[0-9]{1,5}))?")


def access_on(address: str, port: int, password: str, names: Sequence[str]) -> Access:
    """Return who may use a panel on *address* and *port*, which may have further *names*: host or host:port.

    Raises `ConfigError` for a port or a name that is none, and if others can reach the address without a password.
    """
    if not 1 <= port <= MAX_PORT:
        raise ConfigError(f"--port {port} is not a port; choose one from 1 to {MAX_PORT}")
    if password and not password.strip():
        raise ConfigError("WEB_PASSWORD is blank; write a password, or leave it out")
    try:
        is_loopback = address == "localhost" or ip_address(address).is_loopback
    except ValueError:
        raise ConfigError(f"--host {address} is not an IP address; write for example 127.0.0.1 or 0.0.0.0") from None
    if not is_loopback and len(password) < MIN_PASSWORD_CHARS:
        raise ConfigError(
            f"--host {address} can be reached from other machines; set WEB_PASSWORD, of at least "
            f"{MIN_PASSWORD_CHARS} characters, or leave --host out"
        )
    own = () if is_loopback else (in_url(address), socket.gethostname().lower())
    hosts = {host for name in (*LOOPBACK_NAMES, *own) for host in _as_sent(name, port)}
    for name in names:
        host, given = _parts(name.lower())
        # A proxy in front of the panel has a port of its own, mostly a default one.
        hosts |= {*_as_sent(host, given)} if given else {host, *_as_sent(host, port)}
    return Access(frozenset(hosts), port, password)


def in_url(address: str) -> str:
    """Return *address* as it stands in a URL: an IPv6 address is in brackets.

    >>> in_url("fd00:0::1"), in_url("127.0.0.1"), in_url("localhost")
    ('[fd00::1]', '127.0.0.1', 'localhost')
    """
    return f"[{ip_address(address)}]" if ":" in address else address


def _as_sent(host: str, port: int) -> tuple[str, ...]:
    """Return the values of the header Host for *host* and *port*: browsers leave a default port out."""
    return (f"{host}:{port}", host) if port in DEFAULT_PORTS else (f"{host}:{port}",)


def _parts(name: str) -> tuple[str, int]:
    """Return the host and the port of one of WEB_HOSTS; 0: it names no port. Raises `ConfigError`."""
    match = _NAME.fullmatch(name)
    try:
        if match is None:
            return in_url(str(ip_address(name))), 0
        host = f"[{IPv6Address(match['address'])}]" if match["address"] else match["host"]
        return host, int(match["port"] or 0)
    except ValueError:
        raise ConfigError(
            f"WEB_HOSTS={name} is neither host nor host:port; write for example crawls.example.org:443"
        ) from None


def bound(address: str, port: int) -> socket.socket:
    """Return a socket that has the port. Raises `ConfigError` if it can't be used."""
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"--host {address} --port {port} can't be used: {error.strerror}; choose another --port"
        ) from error
    return listener


def serve(app: Starlette, listener: socket.socket) -> None:
    """Serve the panel *app* until Ctrl-C."""
    config = uvicorn.Config(
        app,
        http="h11",  # also where httptools is installed, which does not limit the length of a head
        ws="none",
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=CLOSE_S,
    )
    with suppress(KeyboardInterrupt):  # by which it was ended
        uvicorn.Server(config).run([listener])
