"""A file of settings gives values of the right types, or one sentence with the file and the line or setting."""

from __future__ import annotations

import pytest

from crawlers.errors import ConfigError
from crawlers.inputs.settings_file import read_settings
from crawlers.options.kinds import kind_of

EXAMPLES = {"PAGES": 0, "DELAY": 1.0, "NAME": "", "SWITCH": True, "TAGS": ["a"], "TABLE": {}, "ANY": None}
KINDS = {name: kind_of(example) for name, example in EXAMPLES.items()}


@pytest.fixture
def read(tmp_path):
    def result(text):
        path = tmp_path / "crawl.toml"
        path.write_text(text, "utf-8") if isinstance(text, str) else path.write_bytes(text)
        return read_settings(str(path), KINDS)

    return result


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("", {}),
        ("# a comment\nPAGES = 2_000  # pages\n", {"PAGES": 2000}),
        ("DELAY = 2\n", {"DELAY": 2}),
        ("DELAY = 0.5\n", {"DELAY": 0.5}),
        ('PAGES = "1"\n', {"PAGES": "1"}),  # as behind -s
        ('NAME = "Zürich"\n', {"NAME": "Zürich"}),
        ("SWITCH = false\n", {"SWITCH": False}),
        ("SWITCH = 1\n", {"SWITCH": 1}),
        ('TAGS = ["a", "area"]\n', {"TAGS": ["a", "area"]}),
        ("TAGS = []\n", {"TAGS": []}),
        ('TAGS = "pdf,zip"\n', {"TAGS": "pdf,zip"}),
        ('TABLE = {"10.0.0.1" = "a.example"}\n', {"TABLE": {"10.0.0.1": "a.example"}}),
        ('[TABLE]\n"10.0.0.1" = "a.example"\n', {"TABLE": {"10.0.0.1": "a.example"}}),
        ("ANY = 3\n", {"ANY": 3}),
        ("ANY = true\n", {"ANY": True}),
        (b"\xef\xbb\xbfPAGES = 1\r\n", {"PAGES": 1}),
    ],
)
def test_settings_are_read_with_their_types(read, text, settings):
    assert read(text) == settings


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("PAGES = many\n", ["is not valid TOML", "line 1", "texts in quotes"]),
        ("PAGES = 1\nPAGES = 2\n", ["is not valid TOML", "line 2"]),
        ("PAGES\n", ["is not valid TOML", "line 1"]),
        pytest.param("TAGS = " + "[" * 50_000, ["is not valid TOML", "nested"], id="deeply nested lists"),
        pytest.param("TABLE = " + "{a=" * 50_000, ["is not valid TOML", "nested"], id="deeply nested tables"),
        ("pages = 1\n", ["unknown setting pages; did you mean PAGES?"]),
        ("PAGE = 1\n", ["unknown setting PAGE; did you mean PAGES?"]),
        ("COLOUR = 1\n", ["unknown setting COLOUR; the documentation of settings lists all"]),
        ("[crawl]\nPAGES = 1\n", ["[crawl] is a table; write all settings at the top of the file"]),
        ("[[crawl]]\nPAGES = 1\n", ["unknown setting crawl"]),
        ("RULE_SEED = 1\n", ["RULE_SEED is no setting any more; equal commands make equal choices"]),
        ("PAGES = 1.5\n", ["PAGES='1.5' is not a whole number"]),
        ("PAGES = true\n", ["PAGES='True' is not a whole number"]),
        ("PAGES = {a = 1}\n", ["PAGES", "is not a whole number"]),
        ("PAGES = 2026-11-22\n", ["PAGES='2026-11-22' is not a whole number"]),
        ("DELAY = inf\n", ["DELAY='inf' is out of range"]),
        ("NAME = 5\n", ["NAME='5' is not a text; write one in quotes"]),
        ('SWITCH = "on"\n', ["SWITCH='on' must be 0 or 1"]),
        ("SWITCH = 2\n", ["SWITCH='2' must be 0 or 1"]),
        ("TAGS = 5\n", ["TAGS='5' must be a list"]),
        ("TAGS = [[1]]\n", ["must be a list"]),
        ("TABLE = 5\n", ["TABLE='5' is not an object"]),
        (b"NAME = '\xff'\n", ["is not UTF-8 text", "save it as UTF-8"]),
        ("# " + "x" * 1_000_001, ["is larger than 1000000 bytes"]),
    ],
)
def test_error_is_one_sentence_with_the_file_and_the_place(read, text, parts):
    with pytest.raises(ConfigError) as raised:
        read(text)
    message = str(raised.value)
    assert "crawl.toml" in message
    assert "\n" not in message
    assert len(message) < 400
    assert all(part in message for part in parts), message


def test_all_wrong_settings_are_named(read):
    with pytest.raises(ConfigError, match=r"did you mean PAGES[?]\n.*crawl.toml: NAME='5' is not a text"):
        read("PAGE = 1\nNAME = 5\n")


def test_file_that_can_not_be_read_is_named(tmp_path):
    for path in (tmp_path / "nowhere.toml", tmp_path):
        with pytest.raises(ConfigError, match="cannot be read"):
            read_settings(str(path), KINDS)
