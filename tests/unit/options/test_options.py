"""Settings are declared once, and everything else about them derives from the declaration."""

import re

import pytest

from crawlers import settings
from crawlers.options import OFFERED, OUTPUTS, RECORDED, SETTINGS
from crawlers.options.kinds import Choice, File, Kind, Names, Number, Switch, Table, Text, Whole, kind_of
from crawlers.options.removed import REMOVED

every_setting = pytest.mark.parametrize("one", SETTINGS.values(), ids=SETTINGS)


@every_setting
def test_setting_has_a_help_a_group_and_a_default_that_it_may_have(one):
    assert one.help
    assert one.group
    assert one.kind.problem(one.default) == ""
    assert vars(settings)[one.name] == one.default


def test_at_most_80_settings_are_our_own():
    assert len([one for one in SETTINGS.values() if one.group != "Scrapy"]) <= 80
    assert len([name for name in vars(settings) if name.isupper() and name not in SETTINGS]) < 30  # Scrapy's


def test_removed_settings_are_gone_and_name_only_settings_that_exist():
    assert not REMOVED.keys() & vars(settings).keys()
    for sentence in REMOVED.values():
        named = set(re.findall(r"[A-Z]+_[A-Z_]+", sentence))
        assert named <= SETTINGS.keys(), sentence


def test_nothing_that_belongs_to_the_machine_is_offered():
    for name in ("DATABASE_URL", "WEB_PASSWORD", "SCRAPYD_URL", "RENDER_BROWSER", "REFUSE_PRIVATE_ADDRESSES"):
        assert name not in OFFERED
    assert {name for name in OFFERED if name.endswith(("_FILE", "_FOLDER", "_PARQUET"))} == {*OUTPUTS}
    assert {"RULE", "ORDER", "LINK_TAGS", "URL_IGNORED_PARAMETERS", "ROBOTSTXT_OBEY"} <= {*RECORDED}


def test_names_of_registries_are_choices():
    assert SETTINGS["ORDER"].kind.choices[:2] == ("bfs", "learnt")
    assert SETTINGS["PROFILE"].kind.choices == ("universities", "institutes")
    assert SETTINGS["GRAPH_FORMATS"].kind.choices == ()  # several can be given


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        (Whole(least=1, most=256), "0", " is out of range; write a whole number from 1 to 256"),
        (Whole(), "1.5", " is not a whole number; write a whole number of 0 or more"),
        (Whole(), True, " is not a whole number; write a whole number of 0 or more"),
        (Number(), "1e308", " is out of range; write a number from 0 to 2147483647"),
        (Number(above=True), "0", " is out of range; write a number above 0"),
        (Number(most=1, above=True), 2, " is out of range; write a number above 0 and at most 1"),
        (Switch(), "yes", " must be 0 or 1"),
        (Choice(names=("a", "b")), "c", " is unknown; write a or b"),
        (Names(), [5], ' must be a list, such as ["a", "b"]'),
        (Names(), [["a"]], ' must be a list, such as ["a", "b"]'),
        (Names("Types", like="[a-z]+/[a-z]+", such="a/b"), "x", " has no types; write some, such as a/b"),
        (Names(of="graphs.export:ALL_FORMATS"), "gexf,dot", " has 'dot'; choose out of: gexf, graphml, csv, parquet"),
        (
            Names(of="graphs.export:ALL_FORMATS"),
            "x" * 99,
            f" has '{'x' * 60}'; choose out of: gexf, graphml, csv, parquet",
        ),
        (Text(), 5, " is not a text; write one in quotes"),
        (Text("A port", like=r"\d+", such="80"), "x", " is not a port; write for example 80"),
        (Table(of_texts=True), {"a": None}, ' has a value that is not a text; write {"name": "text"}'),
        (Table(), "[1]", ' is not an object of JSON; write {"name": value}'),
        (File(), False, " can't be a file (expected str, bytes or os.PathLike object, not bool); name another one"),
        (File(), "x" * 300, " can't be a file (File name too long); name another one"),
    ],
)
def test_problem_of_a_value_says_what_to_write(kind, value, problem):
    assert kind.problem(value) == problem


def test_missing_value_is_none_where_the_setting_may_have_none():
    assert [Whole(or_none=True).problem(value) for value in (None, "", "None")] == ["", "", ""]
    assert Whole().problem("")


def test_kinds_of_the_settings_of_scrapy_follow_from_their_values():
    kinds = [type(kind_of(example)) for example in (True, 3, 0.5, {}, [], "a", None)]
    assert kinds == [Switch, Whole, Number, Table, Names, Text, Kind]
