"""Settings that a crawl recorded are read as they were."""

from crawlers.reports.crawl_manifest import RecordedSettings, crawl_rules

VALUES = {
    "PAGE_BUDGET": "900",
    "FIT_FACTOR": "0.5",
    "ROBOTSTXT_OBEY": "True",
    "MAX_LEVEL": "None",
    "URL_IGNORED_PARAMETERS": "['a', 'b']",
    "URL_IP_NAMES": "{'[::1]': 'a.test'}",
}


def test_texts_are_read_as_values():
    settings = RecordedSettings(VALUES)
    assert settings.getint("PAGE_BUDGET") == 900
    assert settings.getfloat("FIT_FACTOR") == 0.5
    assert settings.getbool("ROBOTSTXT_OBEY")
    assert settings.get("MAX_LEVEL") is None
    assert settings.getlist("URL_IGNORED_PARAMETERS") == ["a", "b"]
    assert settings.getdict("URL_IP_NAMES") == {"[::1]": "a.test"}


def test_rule_that_this_version_does_not_know_is_none():
    assert crawl_rules({"RULE": "tomorrow"}).new_rule() is None
