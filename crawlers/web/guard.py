"""Decides which requests reach the panel, and tells browsers what its pages may do.

The panel starts programs and deletes data, so that a page of the web that is open in the same browser must not be able
to use it:

* The header Host must be a name of ours. A page whose own name points to 127.0.0.1 (DNS rebinding) sends its name.
* A request that changes anything must come from a page of ours, by its headers Origin or Sec-Fetch-Site, and must
  contain the token of the session, see `forms.changes`.
* On an address that others can reach, whoever has not given the password sees the login page only.

References
----------
.. [1] OWASP, Cross-Site Request Forgery Prevention Cheat Sheet.
.. [2] W3C, Content Security Policy Level 3; Fetch Metadata Request Headers.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "crawlers-session"
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
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with no-referrer, browsers send "Origin: null" with our own forms
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Access:
    """Who may use the panel.

    *hosts* are the values of the header Host that are ours, with the port; an empty *password* lets everybody in who
    reaches the address.
    """

    hosts: frozenset[str]
    password: str = ""
    sessions: URLSafeTimedSerializer = field(default_factory=lambda: URLSafeTimedSerializer(secrets.token_bytes()))


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
        if self._access.password and not session.is_known and not scope["path"].startswith(OPEN_TO_ALL):
            return RedirectResponse(LOGIN, 303)
        return None

    def _session(self, headers: Headers) -> Session | None:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
            token, is_known = self._access.sessions.loads(cookies[COOKIE].value, max_age=SESSION_S)
        except (KeyError, CookieError, BadSignature, ValueError, TypeError):
            return None
        return Session(str(token), is_known is True)

    def _cookie(self, session: Session) -> str:
        value = self._access.sessions.dumps([session.token, session.is_known])
        return f"{COOKIE}={value}; Path=/; Max-Age={SESSION_S}; HttpOnly; SameSite=Strict"


def _is_ours(headers: Headers, host: str) -> bool:
    """Return whether the page that sent a request is one of *host*: all browsers send one of these headers."""
    if "origin" in headers:
        return headers["origin"] in (f"http://{host}", f"https://{host}")
    return headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")


def is_equal(given: str, expected: str) -> bool:
    """Return whether two secrets are equal, in a time that does not tell how much of them is."""
    return hmac.compare_digest(given.encode(), expected.encode())
