"""A client that can't be used is refused before a crawl begins, with a remedy."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawlers.errors import ConfigError
from crawlers.inputs import client_settings
from crawlers.inputs.client_settings import http_client


@pytest.mark.parametrize("name", ["curl", "twisted"])
def test_known_clients_are_accepted(name):
    assert http_client(Settings({"HTTP_CLIENT": name})) == name


@pytest.mark.parametrize("name", ["", "Curl", "aiohttp"])
def test_unknown_clients_are_refused(name):
    with pytest.raises(ConfigError, match=f"HTTP_CLIENT='{name}' is unknown; choose one of: curl, twisted"):
        http_client(Settings({"HTTP_CLIENT": name}))


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(client_settings, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="run pip install pycurl, or set HTTP_CLIENT=twisted"):
        http_client(Settings({"HTTP_CLIENT": "curl"}))
    assert http_client(Settings({"HTTP_CLIENT": "twisted"})) == "twisted"


def test_other_reactors_are_refused():
    settings = Settings({"HTTP_CLIENT": "curl", "TWISTED_REACTOR": "twisted.internet.selectreactor.SelectReactor"})
    with pytest.raises(ConfigError, match="leave it out, or set HTTP_CLIENT=twisted"):
        http_client(settings)
