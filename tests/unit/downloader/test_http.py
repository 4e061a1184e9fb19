"""HTTP_CLIENT chooses the handler; one that can't be used is refused before a crawl begins, with a remedy."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from scrapy.settings import Settings

from crawlers.downloader.bounded_http import BoundedHTTPHandler
from crawlers.downloader.curl_http import CurlHTTPHandler
from crawlers.downloader.http import CLIENTS, HTTPHandler, http_client
from crawlers.errors import ConfigError


@pytest.mark.parametrize(("name", "kind"), [("twisted", BoundedHTTPHandler), ("curl", CurlHTTPHandler)])
def test_setting_chooses_the_handler(name, kind):
    crawler = SimpleNamespace(settings=Settings({"HTTP_CLIENT": name}), get_extension=lambda _: None)
    assert type(HTTPHandler.from_crawler(crawler)) is kind


@pytest.mark.parametrize("name", ["", "Curl", "aiohttp"])
def test_unknown_clients_are_refused(name):
    with pytest.raises(ConfigError, match=f"HTTP_CLIENT='{name}' is unknown; choose one of: curl, twisted"):
        http_client(Settings({"HTTP_CLIENT": name}))


def module(protocols=("http", "https"), **names):
    """Return a module like pycurl, built with *protocols*."""
    pycurl = ModuleType("pycurl")
    vars(pycurl).update({"version_info": lambda: (11, "8.23.0", 0, "", 0, "", 0, "", protocols), **names})
    return pycurl


@pytest.mark.parametrize(
    ("pycurl", "missing"),
    [
        (None, "pycurl 7.49 with libcurl 8.2, or newer ones"),
        (module(CONN_ID=1), "pycurl 7.49 with libcurl 8.2, or newer ones .*AsyncCurlMulti"),
        (module(AsyncCurlMulti=object), "pycurl 7.49 with libcurl 8.2, or newer ones .*CONN_ID"),
        (module(AsyncCurlMulti=object, CONN_ID=1, protocols=("http",)), "a libcurl with TLS"),
    ],
)
def test_pycurl_that_can_not_be_used_is_refused(monkeypatch, pycurl, missing):
    monkeypatch.setitem(sys.modules, "pycurl", pycurl)
    with pytest.raises(ConfigError, match=f"{missing}.*; run pip install .* pycurl, or set HTTP_CLIENT=twisted"):
        http_client(Settings({"HTTP_CLIENT": "curl"}))
    assert http_client(Settings({"HTTP_CLIENT": "twisted"})) == CLIENTS["twisted"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TWISTED_REACTOR", "twisted.internet.selectreactor.SelectReactor"),
        ("DOWNLOADER_CLIENTCONTEXTFACTORY", "a.project.Factory"),
        ("DOWNLOADER_CLIENT_TLS_METHOD", "TLSv1.2"),
    ],
)
def test_settings_without_effect_on_libcurl_are_refused(name, value):
    with pytest.raises(ConfigError, match=f"the default of {name}; leave it out, or set HTTP_CLIENT=twisted"):
        http_client(Settings({"HTTP_CLIENT": "curl", name: value}))
    assert http_client(Settings({"HTTP_CLIENT": "twisted", name: value})) == CLIENTS["twisted"]
