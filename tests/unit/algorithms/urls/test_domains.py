"""Hosts that belong to one site."""

from __future__ import annotations

import socket

import pytest

from crawlers.algorithms.urls.domains import domain_group, host_group


@pytest.mark.parametrize(
    ("site", "group"),
    [
        ("http://a.example", "a.example"),
        ("https://a.example", "a.example"),
        ("https://www.a.example", "www.a.example"),
        ("http://a.example:8080", "a.example:8080"),
        ("http://[::1]:80", "[::1]:80"),
    ],
)
def test_host_is_one_site_for_all_protocols(site, group):
    assert host_group(site) == group


@pytest.mark.parametrize(
    ("site", "group"),
    [
        ("https://www.lib.uni.ru", "uni.ru"),
        ("http://uni.ru:8080", "uni.ru"),
        ("http://a.uni.ac.uk", "uni.ac.uk"),
        ("http://a.xn--80ak6aa92e.xn--p1ai", "xn--80ak6aa92e.xn--p1ai"),
        ("https://uni.ru.", "uni.ru"),
    ],
)
def test_all_hosts_of_a_registered_domain_are_one_site(site, group):
    assert domain_group(site) == group


@pytest.mark.parametrize(
    ("site", "group"),
    [
        ("https://me.github.io", "me.github.io"),
        ("http://www.iling.spb.ru", "iling.spb.ru"),
        ("https://github.io", "github.io"),
    ],
)
def test_subdomains_of_hosting_services_and_cities_are_separate_sites(site, group):
    assert domain_group(site) == group


@pytest.mark.parametrize(
    "authority",
    ["127.0.0.1:8600", "[::1]:8600", "localhost", "a.test:8600", "ru", "co.uk", "..", "=1+1"],
)
def test_addresses_and_hosts_without_a_suffix_stay_as_they_are(authority):
    assert domain_group(f"http://{authority}") == authority


def test_network_is_not_used(monkeypatch):
    def no_network(*_args, **_kwargs):
        raise AssertionError

    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    assert domain_group("http://a.never-seen-before.co.uk") == "never-seen-before.co.uk"
