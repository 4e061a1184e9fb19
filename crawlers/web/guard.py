"""Decides which requests reach the panel, and tells browsers what its pages may do.

The panel starts programs and deletes data, so that a page of the web that is open in the same browser must not be able
to use it:

* The header Host must be a name of ours. A page whose own name points to 127.0.0.1 (DNS rebinding) sends its name.
* Pages of other sites may link to the panel. They may load nothing of it, as an image, a script or a frame: a page that
  makes a browser ask for many reports would keep the machine busy, and buttons in a frame can be hidden under others.
* A request that changes anything must come from a page of ours, by its headers Origin or Sec-Fetch-Site, and must
  contain the token of the session, see `panel.changes`.
* On an address that others can reach, whoever has not given the password sees the login page only.

References
----------
.. [1] OWASP, Cross-Site Request Forgery Prevention Cheat Sheet.
.. [2] W3C, Content Security Policy Level 3; Fetch Metadata Request Headers.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "crawlers-session"
ATTEMPTS, ATTEMPTS_S = 5, 60.0  # wrong passwords in so many seconds, from one address
MAX_NETWORKS = 10_000  # whose attempts are remembered
MAX_PATH = 1000  # characters; numbers in it have far fewer than Python converts
SESSION_S = 14 * 24 * 3600
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
LOGIN = "/login"
OPEN_TO_ALL = (LOGIN, "/static/", "/preferences")  # without the password
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",  # for browsers and proxies that do not know frame-ancestors
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with no-referrer, browsers send "Origin: null" with our own forms
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Attempts:
    """The wrong passwords of the last minute, by the address that they came from. Methods may be called in any thread.

    IPv6 gives everybody 2^64 addresses, so that only the first half of such an address counts. A panel that listens on
    both sees an IPv4 address as one of IPv6.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._times: OrderedDict[str, list[float]] = OrderedDict()
        self._lock = threading.Lock()

    def are_used_up(self, address: str) -> bool:
        """Return whether no further password may be tried from *address* now."""
        with self._lock:
            return len(self._recent(_network(address))) >= ATTEMPTS

    def add(self, address: str) -> None:
        """Count a wrong password from *address*."""
        network = _network(address)
        with self._lock:
            self._times[network] = [*self._recent(network), self._clock()]
            self._times.move_to_end(network)
            while len(self._times) > MAX_NETWORKS:
                self._times.popitem(last=False)

    def _recent(self, network: str) -> list[float]:
        since = self._clock() - ATTEMPTS_S
        return [one for one in self._times.get(network, ()) if one > since]


def _network(address: str) -> str:
    try:
        given = ip_address(address)
    except ValueError:  # a client without an address, such as that of a socket file
        return address
    mapped = given.ipv4_mapped if isinstance(given, IPv6Address) else given
    return str(mapped or ip_network((given, 64), strict=False))


@dataclass(frozen=True, slots=True)
class Access:
    """Who may use the panel.

    *hosts* are the values of the header Host that are ours, *port* is that of the panel itself; an empty *password*
    lets everybody in who reaches the address.
    """

    hosts: frozenset[str]
    port: int
    password: str = ""
    attempts: Attempts = field(default_factory=Attempts)
    sessions: URLSafeTimedSerializer = field(default_factory=lambda: URLSafeTimedSerializer(secrets.token_bytes()))
    ended: set[str] = field(default_factory=set)  # tokens of those that were logged out: their cookies may be known

    @property
    def cookie(self) -> str:
        """The name of the cookie of sessions: browsers send cookies to all ports of a host, and so to other panels."""
        return f"{COOKIE}-{self.port}"


@dataclass(frozen=True, slots=True)
class Session:
    """What the cookie of a browser says, signed by us."""

    token: str  # in all forms of this session
    is_known: bool = False  # has given the password


class Guard:
    """ASGI middleware that refuses requests, and gives each one its `Session` as `scope["session"]`."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "websocket":  # the panel has none
            await send({"type": "websocket.close"})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        session = self._session(headers)
        is_new = session is None
        scope["session"] = session = session or Session(secrets.token_urlsafe())

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    answered[name] = value
                if not scope["path"].startswith("/static/"):
                    answered["cache-control"] = "no-store"
                if is_new or scope["session"] is not session:
                    answered.append("set-cookie", self._cookie(scope["session"]))
            await send(message)

        refusal = self._refusal(scope, headers, session)
        await (refusal or self._app)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope, headers: Headers, session: Session) -> PlainTextResponse | RedirectResponse | None:
        host = headers.get("host", "")
        if host not in self._access.hosts:
            return PlainTextResponse(
                f"The panel has no name {host!r}; open http://{min(self._access.hosts)}/, or add it to WEB_HOSTS.",
                421,
            )
        if scope["method"] not in SAFE and not _is_ours(headers, host):
            return PlainTextResponse("This request comes from another site; open the panel itself.", 403)
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and headers.get("sec-fetch-dest") != "document":
            return PlainTextResponse("Pages of other sites may lead to the panel, but not load parts of it.", 403)
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            return PlainTextResponse("No address of the panel contains a NUL.", 400)
        if len(scope["path"]) > MAX_PATH:
            return PlainTextResponse("This address is too long.", 414)
        if self._access.password and not session.is_known and not scope["path"].startswith(OPEN_TO_ALL):
            return RedirectResponse(LOGIN, 303)
        return None

    def _session(self, headers: Headers) -> Session | None:
        try:
            cookies = cookie_parser(headers.get("cookie", ""))  # those of other programs on this host, too
            token, is_known = self._access.sessions.loads(cookies[self._access.cookie], max_age=SESSION_S)
        except (KeyError, BadSignature, ValueError, TypeError):
            return None
        return None if token in self._access.ended else Session(str(token), is_known is True)

    def _cookie(self, session: Session) -> str:
        value = self._access.sessions.dumps([session.token, session.is_known])
        return f"{self._access.cookie}={value}; Path=/; Max-Age={SESSION_S}; HttpOnly; SameSite=Strict"


def _is_ours(headers: Headers, host: str) -> bool:
    """Return whether the page that sent a request is one of *host*: all browsers send one of these headers."""
    if "origin" in headers:
        return headers["origin"] in (f"http://{host}", f"https://{host}")
    return headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")


def is_equal(given: str, expected: str) -> bool:
    """Return whether two secrets are equal, in a time that does not tell how much of them is."""
    return hmac.compare_digest(given.encode(), expected.encode())
