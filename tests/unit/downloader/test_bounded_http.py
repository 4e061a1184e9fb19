"""The private names of Scrapy and Twisted that the handler replaces: versions that change them are noticed here."""

import pytest
from scrapy.core.downloader.handlers import http11
from twisted.web import _newclient

CHANGED = "this version of Scrapy or Twisted changed {}; adapt crawlers/downloader/bounded_http.py"


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (http11, "_LenientHTTP11ClientFactory"),
        (http11, "_LenientHTTP11ClientProtocol"),
        (http11, "_LenientHTTPClientParser"),
        (http11._LenientHTTP11ClientFactory, "buildProtocol"),
        (_newclient.HTTP11ClientProtocol, "_giveUp"),
        (_newclient.HTTP11ClientProtocol, "_parser"),
        (_newclient.HTTPClientParser, "lineLengthExceeded"),
        (_newclient.HTTPClientParser, "statusReceived"),
        (_newclient.HTTPClientParser, "MAX_LENGTH"),
    ],
)
def test_replaced_names_exist(owner, name):
    assert name in dir(owner), CHANGED.format(name)
