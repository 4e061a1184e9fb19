"""A news crawl begins with the sources of a file, or of the store."""

import pytest
from scrapy.settings import Settings

from crawlers.errors import ConfigError
from crawlers.missions.news.news_opening import read_or_stored_sources


def test_missing_store_is_said_without_its_own_remedy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = Settings({"DATABASE_URL": "sqlite:///crawl.sqlite"})
    missing = f"no sources are given, and DATABASE_URL: {tmp_path / 'crawl.sqlite'} does not exist; "
    with pytest.raises(ConfigError, match=f"^{missing}(?!.*crawl first).*scrapy sites add URL$"):
        read_or_stored_sources(None, settings)
