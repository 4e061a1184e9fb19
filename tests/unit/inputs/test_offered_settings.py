"""Settings that people choose for a crawl: documented, and harmless for the machine."""

from __future__ import annotations

import pytest

from crawlers import settings
from crawlers.inputs.offered_settings import FILES, OF_THE_MACHINE, check_offered, offered_settings, typed

every_setting = pytest.mark.parametrize("one", offered_settings().values(), ids=lambda one: one.name)


@every_setting
def test_setting_has_a_comment_a_group_and_the_default_of_settings_py(one):
    assert one.comment
    assert one.group
    assert one.default == vars(settings)[one.name]


def test_comments_above_a_setting_belong_to_it_and_headings_to_the_group():
    found = offered_settings()
    assert found["ORDER"].comment.startswith("Which page of it next: bfs,")
    assert found["MAX_LEVEL"].comment.startswith("deepest level fetched")
    assert found["RESULT_TABLES"].comment.startswith("Written when the crawl stops: pages")
    assert "settings.md; only URLs that contain one" in found["URL_INCLUDE"].comment  # above it, and behind it
    assert found["SITE_PARALLEL"].group == "Politeness"
    assert found["URL_LOWER_CASE"].group == "URLs"


def test_nothing_that_belongs_to_the_machine_is_offered():
    known = {name for name in dir(settings) if name.isupper()}
    assert known >= OF_THE_MACHINE
    assert not OF_THE_MACHINE & offered_settings().keys()
    for name in ("EXTENSIONS", "ADDONS", "SPIDER_MODULES", "SCHEDULER", "ITEM_PIPELINES", "DOWNLOAD_HANDLERS"):
        assert name not in offered_settings()


def test_every_setting_that_names_a_file_is_known():
    named = {name for name in offered_settings() if name.endswith(("_FILE", "_FOLDER", "_PARQUET", "_PATH"))}
    assert named == {*FILES}


@pytest.mark.parametrize("name", [*FILES, "LINK_PRIOR"])
@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/b", "result/a.csv", "crawl.sqlite"])
def test_the_panel_takes_no_path(name, path):
    assert check_offered({name: path})[name].startswith(name)
    assert "can't be set here" in check_offered({name: path})[name]


def test_link_prior_is_one_of_its_words():
    assert check_offered({"LINK_PRIOR": "none"}) == check_offered({"LINK_PRIOR": "shipped"}) == {}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("EXTENSIONS", "x", "EXTENSIONS can't be set here; start the crawl in a terminal"),
        ("RULE", "x" * 2001, "RULE has 2,001 characters; write at most 2,000"),
        ("RULE", "a\nb", "RULE has characters that can't be printed; write it on one line"),
    ],
)
def test_problem_is_one_sentence(name, value, message):
    assert check_offered({name: value}) == {name: message}


def test_values_are_typed_as_behind_the_option():
    assert [typed(one) for one in (None, True, ["a", "b"], {"a": 1}, 2.5)] == ["", "1", "a,b", '{"a": 1}', "2.5"]
