"""The weights with which ORDER=learnt begins are read from a file, and wrong files are refused."""

import json

import pytest
from scrapy.settings import Settings

from crawlers.errors import ConfigError
from crawlers.inputs import link_prior_file
from crawlers.inputs.link_prior_file import chosen_link_prior, read_link_prior
from crawlers.ranking.link_features import OF_LINKS, shipped_weights

GOOD = {"anchor": {"news": 0.5, "новос": -1}, "url": {"news": 8}, "anchor length": {"1 word": 0.1}, "level": {"0": 0}}


def write(folder, content):
    path = folder / "mine.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return str(path)


def test_weights_are_read_by_kind_and_text(tmp_path):
    assert read_link_prior(write(tmp_path, GOOD)) == GOOD


def test_setting_names_the_weights(tmp_path):
    def chosen(value):
        return chosen_link_prior(Settings({"LINK_PRIOR": value}))

    assert chosen(write(tmp_path, GOOD)) == GOOD
    assert chosen("shipped") == shipped_weights(OF_LINKS)
    assert chosen("none") == {}
    with pytest.raises(ConfigError, match=r"^LINK_PRIOR is empty; write shipped, none or the name of a file$"):
        chosen("")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"", "not JSON; make another file with scrapy lab learn"),
        (b'{"anchor": {"news": ' + b"9" * 10_000 + b"}}", "not JSON"),
        ([], 'expected weights by kind and text, as {"anchor": {"news": 0.5}}; make another'),
        ({"anchor": 0.5}, "expected weights by kind and text"),
        ({"site": {"http://a.test": 1}}, "'site' is not a kind of weights; expected anchor, url, anchor length, level"),
        ({"anchor": {"Changelog": 1}}, "of the kind anchor occurs nowhere; write the first letters of words"),
        ({"anchor": {"\ud800\ud800": 1}}, "of the kind anchor occurs nowhere"),
        ({"level": {"9": 1}}, "'9' of the kind level occurs nowhere; expected 0, 1, 2,"),
        ({"anchor length": {"two": 1}}, "'two' of the kind anchor length occurs nowhere; expected no words, 1 word"),
        ({"anchor": {"news": 8.1}}, "must be a number from -8 to 8"),
        ({"anchor": {"news": "1"}}, "the weight of 'news' must be a number from -8 to 8"),
        ({"anchor": {"news": 10**400}}, "must be a number from -8 to 8"),
    ],
)
def test_wrong_file_is_refused(tmp_path, content, sentence):
    path = write(tmp_path, content)
    with pytest.raises(ConfigError) as error:
        read_link_prior(path)
    assert sentence in str(error.value)
    assert path in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"^LINK_PRIOR=.*none.json: .*none.json cannot be read: No such file or dir"):
        read_link_prior(str(tmp_path / "none.json"))


def test_size_of_a_file_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(link_prior_file, "MOST_WEIGHTS", 2)
    with pytest.raises(ConfigError, match="3 weights are too many; keep the 2 largest"):
        read_link_prior(write(tmp_path, {"anchor": {"news": 1, "old": 1}, "url": {"news": 1}}))
    monkeypatch.setattr(link_prior_file, "MOST_BYTES", 10)
    with pytest.raises(ConfigError, match="is larger than 10 bytes; make another file with scrapy lab learn"):
        read_link_prior(write(tmp_path, GOOD))
