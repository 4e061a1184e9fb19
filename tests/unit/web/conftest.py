"""A panel of a store with a crawl, and browsers without windows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from crawlers.web.app import panel
from crawlers.web.serving import access_on
from tests.support.stored_crawl import stored_crawl

if TYPE_CHECKING:
    import httpx2 as httpx

PORT = 8060
HOST = f"127.0.0.1:{PORT}"
FORM = re.compile(r'name="csrf" value="([^"]+)"')


@dataclass
class Browser:
    """A client that keeps cookies, and sends the headers that browsers send."""

    client: TestClient

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(path, headers=headers)

    def post(self, path: str, form_of: str = "/", **form: str) -> httpx.Response:
        """Send a form of the page *form_of*."""
        token = FORM.search(self.get(form_of).text)[1]
        return self.client.post(path, data={"csrf": token, **form}, headers={"origin": f"http://{HOST}"})


@pytest.fixture
def crawl_id(sqlite):
    """The number of a crawl in the store."""
    return stored_crawl(sqlite)


@pytest.fixture
def open_panel(sqlite):
    """Return a function that opens the panel in a browser; with a password it needs that."""

    def opened(password: str = "") -> Browser:
        app = panel(sqlite, access_on("127.0.0.1", PORT, password, []))
        client = TestClient(app, base_url=f"http://{HOST}", follow_redirects=False, raise_server_exceptions=False)
        return Browser(client)

    return opened


@pytest.fixture
def browser(open_panel):
    """A browser in which the panel is open."""
    return open_panel()
