"""A manifest says enough to repeat a crawl, and two of them can be compared.

Settings that a crawl recorded are read as they were.
"""

import json

from sqlalchemy import update

from crawlers.reports.crawl_manifest import RecordedSettings, crawl_rules, differing_settings, manifest_of
from crawlers.store.schema.tables import SettingRow, crawl
from tests.support.stored_crawl import stored_crawl
from tests.support.stored_rows import execute, write_rows

WHOLE = {
    "settings": {"ORDER": "bfs", "LINK_TAGS": ["a", "area"]},
    "further_settings": {"TRAPS_ENABLED": False, "GRAPH_FORMATS": ["gexf"], "RENDER": None},
    "of_spider": ["ORDER"],
    "command": {"arguments": {}, "settings": {"TRAPS_ENABLED": "0"}},
}


def test_settings_that_differ_are_told_as_they_are_typed():
    other = {**WHOLE, "further_settings": {**WHOLE["further_settings"], "GRAPH_FORMATS": ["gexf", "csv"]}}
    assert differing_settings(WHOLE, other) == [("GRAPH_FORMATS", "gexf", "gexf,csv")]


def test_changed_lists_are_lists_again(sqlite):
    crawl_id = stored_crawl(sqlite)
    manifest = {"settings": {"LINK_TAGS": ["a"], "URL_INCLUDE": [], "SCOPE": "[odd"}}
    latest = {"LINK_TAGS": "['a', 'area']", "URL_INCLUDE": "None", "SCOPE": "[odd]"}
    write_rows(sqlite, *(SettingRow(crawl_id, *setting) for setting in latest.items()))
    execute(sqlite, update(crawl).values(manifest=json.dumps(manifest)))
    found = manifest_of(sqlite, crawl_id)["changed_settings"]
    assert found == {"LINK_TAGS": ["a", "area"], "URL_INCLUDE": None, "SCOPE": "[odd]"}


VALUES = {
    "PAGE_BUDGET": "900",
    "EXPLORE_SHARE": "0.5",
    "ROBOTSTXT_OBEY": "True",
    "MAX_LEVEL": "None",
    "URL_IGNORED_PARAMETERS": "['a', 'b']",
    "URL_IP_NAMES": "{'[::1]': 'a.test'}",
}


def test_texts_are_read_as_values():
    settings = RecordedSettings(VALUES)
    assert settings.getint("PAGE_BUDGET") == 900
    assert settings.getfloat("EXPLORE_SHARE") == 0.5
    assert settings.getbool("ROBOTSTXT_OBEY")
    assert settings.get("MAX_LEVEL") is None
    assert settings.getlist("URL_IGNORED_PARAMETERS") == ["a", "b"]
    assert settings.getdict("URL_IP_NAMES") == {"[::1]": "a.test"}


def test_rule_that_this_version_does_not_know_is_none():
    assert crawl_rules({"RULE": "tomorrow"}).new_rule() is None
