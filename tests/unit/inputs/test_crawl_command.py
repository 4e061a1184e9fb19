"""The command of a crawl, as it is run and as it is stored."""

from crawlers.inputs.crawl_command import CrawlCommand, command_of


def test_words_are_those_behind_scrapy():
    command = CrawlCommand("topic", {"topic": "a file.yaml"}, {"RULE": "best"})
    assert command.words() == ["crawl", "topic", "-a", "topic=a file.yaml", "-s", "RULE=best"]


def test_stored_command_is_read_back():
    stored = {
        "command": {"arguments": {"hosts": "hosts.txt"}, "settings": {"WORKERS": "2"}, "left_out": []},
        "seeds": ["http://x.test"],
    }
    assert command_of("broad", stored) == CrawlCommand("broad", {"hosts": "hosts.txt"}, {"WORKERS": "2"}, [])
