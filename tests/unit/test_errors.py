"""Messages repeat what was typed, without the passwords in it."""

from time import process_time

import pytest

from crawlers.errors import ConfigError, CrawlersError, without_passwords
from crawlers.files.text_file import quoted
from crawlers.sites.hosts_file import parse_host_list
from crawlers.sites.seed_list import find_seed

SECRET = "s3cret"
ADDRESSES = [
    f"http://me:{SECRET}@a.example/x",
    f"HTTPS://me:{SECRET}@a.example:8600",
    f"http://me:a@{SECRET}@a.example/",
    f"http://me:a/{SECRET}@a.example/",
    f"http://:{SECRET}@a.example/",
    f"//me:{SECRET}@a.example/",
    f"me:{SECRET}@a.example",
    f"b.example,me:{SECRET}@a.example",
    f"http://me:{SECRET}{'x' * 200}@a.example/",
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("message", ["{}", "{!r} matches no seed", "hosts={}: no such file", "item 1: '{}': wrong"])
def test_password_is_in_no_message(address, message):
    for kind in (CrawlersError, ConfigError):
        assert SECRET not in str(kind(message.format(address)))
    assert "a.example" in str(ConfigError(message.format(address)))
    assert SECRET not in quoted(address)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("refuse", [parse_host_list, lambda address: find_seed([], address)])
def test_password_is_not_in_messages_about_unknown_hosts(address, refuse):
    with pytest.raises(ConfigError) as refused:
        refuse(address)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "http://me@a.example/ is not a site",
        "hosts.txt:3: 'a.example;x': maxDownloadsAtTime is 'x'",
        "http://a.example:8600/x: there is no page; ask me@b.example",
        "DATABASE_URL=sqlite:///crawl.sqlite: only one",
        "",
    ],
)
def test_other_text_stays(text):
    assert without_passwords(text) == text


@pytest.mark.parametrize("end", ["", "@", "@a.example"])
def test_text_is_masked_in_linear_time(end):
    text = "http://a.example" + "/b:" * 100_000 + end
    began_at = process_time()
    without_passwords(text)
    assert process_time() - began_at < 1.0, "by backtracking it takes minutes"
