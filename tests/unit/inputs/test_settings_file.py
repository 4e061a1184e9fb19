"""A file of settings gives values of the right types, or one sentence with the file and the line or setting."""

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
        ('PAGES = "1"\n', {"PAGES": "1"}),  # as behind -s
        (b"\xef\xbb\xbfPAGES = 1\r\n", {"PAGES": 1}),
    ],
)
def test_settings_are_read_with_their_types(read, text, settings):
    assert read(text) == settings


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("PAGES = many\n", ["is not valid TOML", "line 1", "texts in quotes"]),
        pytest.param("TAGS = " + "[" * 50_000, ["is not valid TOML", "nested"], id="deeply nested lists"),
        ("pages = 1\n", ["unknown setting pages; did you mean PAGES?"]),
        ("[crawl]\nPAGES = 1\n", ["[crawl] is a table; write all settings at the top of the file"]),
        ("RULE_SEED = 1\n", ["RULE_SEED is no setting any more; leave it out: equal commands make equal choices"]),
        ("PAGES = 1.5\n", ["PAGES='1.5' is not a whole number"]),
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
