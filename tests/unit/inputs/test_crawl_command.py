"""The command of a crawl, as it is run and as it is stored."""

from crawlers.inputs.program import CrawlCommand, command_of


def test_stored_command_is_read_back():
    stored = {
        "command": {"arguments": {"hosts": "hosts.txt"}, "settings": {"WORKERS": "2"}, "left_out": []},
        "seeds": ["http://x.test"],
    }
    assert command_of("broad", stored) == CrawlCommand("broad", {"hosts": "hosts.txt"}, {"WORKERS": "2"}, [])
