"""Requests by way of a proxy may use its addresses at its port; no other request may."""

import pytest

from crawlers.downloader.address_filter import AddressFilter
from crawlers.downloader.download_errors import DownloadRefusedError
from crawlers.urls.addresses import AddressGuard


@pytest.fixture
def addresses():
    """The filter of a crawl of the web."""
    addresses = AddressFilter()
    addresses._guard = AddressGuard(["http://example.com/"])
    return addresses


@pytest.mark.parametrize("host", ["proxy.corp", "10.0.0.1"])
def test_proxy_is_for_requests_by_way_of_it_only(addresses, host):
    addresses.check(host, 3128, is_proxy=True)
    assert addresses.admitted(host, 3128, ["10.0.0.1"]) == {"10.0.0.1"}
    assert addresses.admitted(host, 5432, ["10.0.0.1"]) == set()
    with pytest.raises(DownloadRefusedError):
        addresses.check(host, 3128, is_proxy=False)
    addresses.check(host, 3128, is_proxy=True)  # and it stays open to these


def test_other_ports_of_the_host_of_a_proxy_are_judged_by_their_addresses(addresses):
    addresses.check("proxy.corp", 3128, is_proxy=True)
    addresses.check("proxy.corp", 80, is_proxy=False)
    assert addresses.admitted("proxy.corp", 80, ["10.0.0.1"]) == set()
    assert addresses.take_refused("proxy.corp") is not None
