"""The command of a crawl, as it is run and as it is stored."""

from crawlers.inputs.crawl_command import CrawlCommand, command_of


def test_words_are_those_behind_scrapy():
    command = CrawlCommand("topic", {"topic": "a file.yaml"}, {"RULE": "best"})
    assert command.words() == ["crawl", "topic", "-a", "topic=a file.yaml", "-s", "RULE=best"]


def test_stored_command_is_read_back():
    stored = {
        "command": {"arguments": {"hosts": "hosts.txt"}, "settings": {"WORKERS": "2"}},
        "seeds": ["http://x.test"],
    }
    assert command_of("broad", stored) == CrawlCommand("broad", {"hosts": "hosts.txt"}, {"WORKERS": "2"})


def test_crawl_without_a_stored_command_has_its_seeds_and_the_settings_that_differ():
    recorded = {"RULE": "ucb1", "ORDER": "bfs", "MAX_LEVEL": None, "LINK_TAGS": ["a"], "EXTENSIONS": "x"}
    command = command_of("sitegraph", {"seeds": ["http://a.test", "http://b.test"], "settings": recorded})
    assert command == CrawlCommand("sitegraph", {"hosts": "http://a.test,http://b.test"}, {"RULE": "ucb1"})
