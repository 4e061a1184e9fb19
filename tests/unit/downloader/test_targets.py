"""Requests are sent to the host of their URL or to their proxy, if that is allowed."""

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError

from crawlers.downloader.address_filter import target_of
from crawlers.downloader.download_errors import DownloadRefusedError
from crawlers.reasons import Reason


class Addresses:
    """A filter of addresses that refuses the *refused* host."""

    def __init__(self, refused=""):
        self.refused = refused
        self.checked = []

    def check(self, host, port, *, is_proxy):
        self.checked.append((host, port, is_proxy))
        if host == self.refused:
            raise DownloadRefusedError(Reason.PROXY.of(host))


@pytest.mark.parametrize(
    ("url", "proxy", "host", "port"),
    [
        ("http://A.example/x", None, "a.example", 80),
        ("https://a.example/x", None, "a.example", 443),
        ("https://a.example:8443/x", None, "a.example", 8443),
        ("http://[2001:db8::1]:81/", None, "2001:db8::1", 81),
        ("http://a.example./", None, "a.example.", 80),
        ("https://a.example/", "http://proxy.example:3128", "proxy.example", 3128),
        ("https://a.example/", "proxy.example:3128", "proxy.example", 3128),
        ("https://a.example/", "proxy.example", "proxy.example", 80),
        ("http://a.example/", "https://proxy.example", "proxy.example", 443),
        ("http://a.example/", "socks5://proxy.example", "proxy.example", 80),
    ],
)
def test_target_is_the_host_of_the_url_or_the_proxy(url, proxy, host, port):
    addresses = Addresses()
    request = Request(url, meta={"proxy": proxy} if proxy else {})
    assert target_of(request, addresses) == (host, port)
    assert addresses.checked == [(host, port, proxy is not None)]
    assert target_of(request, None) == (host, port)


@pytest.mark.parametrize("proxy", [None, "http://b.example"])
def test_target_that_is_refused_is_an_error(proxy):
    request = Request("http://a.example/", meta={"proxy": proxy})
    with pytest.raises(DownloadRefusedError, match="is a proxy"):
        target_of(request, Addresses("a.example" if proxy is None else "b.example"))


LONG = ".".join(["a" * 63] * 4)


@pytest.mark.parametrize("host", ["a..example", ".example", f"{'a' * 64}.example", LONG, ""])
def test_name_that_no_dns_can_hold_is_not_resolved(host):
    addresses = Addresses()
    with pytest.raises(CannotResolveHostError, match="is not a host name") as error:
        target_of(Request(f"http://{host}/x"), addresses)
    assert addresses.checked == []
    assert len(str(error.value)) < 300
