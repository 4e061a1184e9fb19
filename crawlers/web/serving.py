"""Serves the panel over HTTP."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING

import uvicorn

from crawlers.errors import ConfigError
from crawlers.web.guard import Access

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.applications import Starlette

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
MIN_PASSWORD_CHARS = 8
CLOSE_S = 2  # for requests that are being answered


def access_on(address: str, port: int, password: str, names: Sequence[str]) -> Access:
    """Return who may use a panel on *address* and *port*, which may have further *names*.

    Raises `ConfigError` if others can reach the address and there is no password.
    """
    try:
        is_loopback = address == "localhost" or ip_address(address).is_loopback
    except ValueError:
        raise ConfigError(f"--host {address} is not an IP address; write for example 127.0.0.1 or 0.0.0.0") from None
    if not is_loopback and len(password) < MIN_PASSWORD_CHARS:
        raise ConfigError(
            f"--host {address} can be reached from other machines; set WEB_PASSWORD, of at least "
            f"{MIN_PASSWORD_CHARS} characters, or leave --host out"
        )
    own = () if is_loopback else (address, socket.gethostname())
    hosts = {f"{name}:{port}" for name in (*LOOPBACK_NAMES, *own, *names)}
    if port in (80, 443):
        hosts |= {host.rpartition(":")[0] for host in hosts}
    return Access(frozenset(hosts | {name for name in names if ":" in name}), password)


def serve(app: Starlette, address: str, port: int) -> None:
    """Serve the panel *app* until Ctrl-C. Raises `ConfigError` if the port can't be used."""
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"--host {address} --port {port} can't be used: {error.strerror}; choose another --port"
        ) from error
    config = uvicorn.Config(
        app,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=CLOSE_S,
    )
    uvicorn.Server(config).run([listener])
