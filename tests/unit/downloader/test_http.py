"""HTTP_CLIENT chooses the handler."""

from types import SimpleNamespace

import pytest
from scrapy.settings import Settings

from crawlers.downloader.bounded_http import BoundedHTTPHandler
from crawlers.downloader.curl_http import CurlHTTPHandler
from crawlers.downloader.http import HTTPHandler


@pytest.mark.parametrize(("name", "kind"), [("twisted", BoundedHTTPHandler), ("curl", CurlHTTPHandler)])
def test_setting_chooses_the_handler(name, kind):
    crawler = SimpleNamespace(settings=Settings({"HTTP_CLIENT": name}), get_extension=lambda _: None)
    assert type(HTTPHandler.from_crawler(crawler)) is kind
