"""Settings that would silently have no effect are refused, with what to use instead."""

from __future__ import annotations

import re
from argparse import ArgumentParser

import pytest
from scrapy.settings import default_settings as scrapy_defaults

from crawlers import settings as defaults
from crawlers.cli.project_command import (
    WITHOUT_EFFECT,
    WITHOUT_EFFECT_ON_MISSIONS,
    HelpFormatter,
    check_effects,
    check_settings,
    check_typed,
    kinds_of_settings,
)
from crawlers.cli.settings_file import read_settings
from crawlers.errors import ConfigError
from crawlers.files.text_file import quoted
from crawlers.options import OUTPUTS, SETTINGS
from crawlers.options.kinds import Number, Switch, Table, kind_of
from crawlers.store.database import Database
from tests.support.of_missions import needs
from tests.support.opened_crawl import project_settings


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("max_level", "Unknown setting max_level; did you mean MAX_LEVEL?"),
        ("MAX_LEVLE", "Unknown setting MAX_LEVLE; did you mean MAX_LEVEL?"),
        ("MAXLEVEL", "did you mean MAX_LEVEL?"),
        ("page_budgt", "did you mean PAGE_BUDGET?"),
        ("depth", "Unknown setting depth; names of settings are in capitals"),
        ("URL_LOWER_CASE", "URL_LOWER_CASE is no setting any more; URL_NORMALIZATION has its step: default,-merge_"),
    ],
)
def test_misspelt_and_lower_case_names_are_refused(name, message):
    with pytest.raises(ConfigError) as raised:
        check_settings(project_settings(**{name: "3"}))
    assert message in str(raised.value)


def test_all_mistakes_are_named_at_once():
    wrong = {"MAX_LEVLE": "3", "PAGE_BUDGET": "many", "SITE_PARALLEL": "0", "URL_EXCLUDE": "/("}
    with pytest.raises(ConfigError) as raised:
        check_settings(project_settings(**wrong))
    assert sorted(name for line in str(raised.value).splitlines() for name in wrong if name in line) == [*wrong]


@pytest.mark.parametrize("name", [*WITHOUT_EFFECT, *WITHOUT_EFFECT_ON_MISSIONS])
def test_setting_without_effect_is_refused_with_a_remedy(name):
    with pytest.raises(ConfigError, match=f"^{name} has no effect here; .+"):
        check_effects(project_settings(**{name: "{}"}), is_mission=True)
    assert hasattr(scrapy_defaults, name)
    check_effects(project_settings(), is_mission=True)  # Scrapy's own value is no mistake


def test_weights_of_links_are_refused_if_the_order_does_not_learn_from_links():
    with pytest.raises(
        ConfigError, match=r"^LINK_PRIOR has no effect here; it is for ORDER=learnt, and here ORDER=bfs: "
    ):
        check_effects(project_settings(LINK_PRIOR="none"), is_mission=True)
    check_effects(project_settings(LINK_PRIOR="none", ORDER="learnt"), is_mission=True)
    check_effects(project_settings(ORDER="bfs"), is_mission=True)


def test_numbers_of_scrapy_that_make_no_sense_are_refused():
    numbers = [name for name, kind in kinds_of_settings().items() if isinstance(kind, Number) and name not in SETTINGS]
    assert len(numbers) > 20
    for name in numbers:
        for value in ("-1", -0.5, "nan", "soon", "inf"):
            with pytest.raises(ConfigError, match=f"^{name}=.+; write a "):
                check_settings(project_settings(**{name: value}))


@pytest.mark.parametrize("name", ["URL_INCLUDE", "URL_EXCLUDE"])
@pytest.mark.parametrize("value", ["/a\ud800", ["/a\ud800"], ["/b", "/a\udfff"]])
@pytest.mark.parametrize("priority", ["project", "cmdline"])
def test_expressions_that_are_not_valid_text_are_refused(name, value, priority):
    settings = project_settings()
    settings.set(name, value, priority=priority)
    with pytest.raises(ConfigError, match=f"^{name}.* is not valid text; write it in UTF-8") as raised:
        check_settings(settings)
    str(raised.value).encode()


@pytest.mark.parametrize("name", ["CRAWL", "DATABASE_URL", "USER_AGENT"])
def test_text_with_a_nul_is_refused_as_a_file_of_settings_may_have_one(name):
    with pytest.raises(ConfigError, match=rf"^{name}='sqlite:///a\\x00b' is not valid text"):
        check_settings(project_settings(**{name: "sqlite:///a\0b"}))


# What a person or a script may pass by mistake. Values that a setting may have are accepted, all others refused.
GARBAGE = ["", "-1", "1e308", "nan", "inf", "garbage", "/proc/none/file", "[", "{", "a\nb\x1b[31m\0"]
LONG = ["9" * 200_000, "x" * 200_000]


def refusal(name, value):
    """Return the message with which a value of a setting is refused; None: it is accepted."""
    try:
        check_typed([f"{name}={value}"])
        check_settings(project_settings(**{name: value}))
    except ConfigError as error:
        return str(error)
    return None


def rubbish(kind):
    """Return values that a setting of a *kind* can't have."""
    wrong = [value for value in GARBAGE if kind.problem(value)]
    if isinstance(kind, Number):
        wrong += [str(kind.least - 1), *([str(kind.most + 1)] if kind.most < float("inf") else [])]
    if isinstance(kind, (Number, Switch, Table)):
        assert "garbage" in wrong
    return [*wrong, *LONG]


def test_each_setting_refuses_rubbish_in_a_sentence():
    for name, kind in kinds_of_settings().items():
        if not hasattr(defaults, name):
            continue
        for value in rubbish(kind):
            message = refusal(name, value)
            assert message is not None, (name, value[:20])
            assert name in message
            assert len(message) < 600, name
            assert message.isprintable(), (name, message)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        pytest.param("NEWS_RULES", "all", "='all' is unknown; write learnt, manual or none", marks=needs("news")),
        ("URL_NORMALIZATION", "default,lower", "='lower' is unknown; choose out of: default, rccrawler"),
        ("METRICS_PORT", "x", "='x' is not a port, or address:port; write for example 9410"),
        ("EXTENSIONS", "-1", """='-1' is not an object of JSON; write {"name": value}"""),
        (
            "SPIDER_MODULES",
            "a.b.c",
            "='a.b.c': there is no module 'a.b.c'; name one that Python finds (PYTHONPATH), or none",
        ),
        ("SCHEDULER", "x", "='x' can't be imported; write module.Class"),
        ("DOWNLOAD_HANDLERS", '{"ftp": "no.Such"}', "='no.Such' can't be imported; write module.Class"),
        ("HTML_TYPES", "/etc/x", "='/etc/x' has no content types; write some, such as text/html"),
        ("CRAWL", "x" * 4097, " has 4,097 characters; write at most 4,096"),
    ],
)
def test_refusal_says_what_to_write(name, value, message):
    assert message in refusal(name, value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file or directory; check name and permissions"),
        (b"", "not a complete Public Suffix List; see https://publicsuffix.org/list/"),
        (b"com\nuk\n", "not a complete Public Suffix List"),
        (b"\xff===END PRIVATE DOMAINS===", "is not UTF-8 text"),
        ("\u00e4^.test\n// ===END PRIVATE DOMAINS===".encode(), "not a URL"),
        (b"// ===END PRIVATE DOMAINS===" * 400_000, "is larger than 10000000 bytes; name a Public Suffix List"),
    ],
)
def test_wrong_public_suffix_list_is_refused_in_one_sentence(tmp_path, content, message):
    path = tmp_path / "list.dat"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        check_settings(project_settings(PUBLIC_SUFFIX_LIST=str(path)))
    assert str(raised.value).startswith(f"PUBLIC_SUFFIX_LIST={quoted(str(path))}: ")
    assert message in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("ending", ["", "-wal", "-shm"])
@pytest.mark.parametrize("way", ["crawl.sqlite{}", "./a/../crawl.sqlite{}", "link{}", "{folder}/crawl.sqlite{}"])
def test_no_output_is_the_store_whether_it_exists_or_not(tmp_path, monkeypatch, name, ending, way):
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"link{ending}").symlink_to(f"crawl.sqlite{ending}")
    path = way.format(ending, folder=tmp_path)
    with pytest.raises(ConfigError, match=f"^{name}={path} is the store; name another file$"):
        check_settings(project_settings(**{name: path}))
    assert not (tmp_path / "crawl.sqlite").exists()


@pytest.mark.parametrize("name", [one for one in OUTPUTS if one != "STOP_FILE"])
@pytest.mark.parametrize("path", ["../x", "a/../../x", "..", "/x"])
def test_outputs_are_below_the_folder_of_the_crawl(tmp_path, monkeypatch, name, path):
    monkeypatch.chdir(tmp_path)
    if (name, path) == ("RESULT_FOLDER", "/x"):
        return check_settings(project_settings(RESULT_FOLDER=path))  # a full path is meant
    message = f"^{name}={path} is outside of the folder of the crawl; name a file below {tmp_path}$"
    with pytest.raises(ConfigError, match=message):
        check_settings(project_settings(**{name: path}))
    return None


def test_files_may_be_beside_the_store_or_the_results_of_other_folders(tmp_path, monkeypatch):
    here, store, results = (tmp_path / name for name in ("here", "store", "results"))
    here.mkdir()
    monkeypatch.chdir(here)
    for folder in (store, results):
        paths = {"WARC_FILE": f"{folder}/a.warc.gz", "COMMON_LOG_FILE": f"{folder}/logs/a.csv"}
        check_settings(
            project_settings(DATABASE_URL=f"sqlite:///{store}/a.sqlite", RESULT_FOLDER=str(results), **paths)
        )


def test_store_is_no_code():
    with pytest.raises(ConfigError, match=r"^DATABASE_URL: scrapy.py may be run as code; write for example sqlite"):
        Database("sqlite:///scrapy.py")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("EXTENSIONS", {"crawlers.extensions.browser.Browser": 1}, "write crawlers.downloader.browser.Browser"),
        (
            "DOWNLOAD_HANDLERS",
            {"http": "crawlers.handlers.http.HTTPHandler"},
            "write crawlers.downloader.http.HTTPHandler",
        ),
        pytest.param(
            "EXTENSIONS",
            {"crawlers.extensions.metrics_server.AlarmChecks": 1},
            r"write crawlers\.missions\.news\.[\w.]+\.AlarmChecks",
            marks=needs("news"),
        ),
        ("STATS_CLASS", "crawlers.extensions.log_format.PageStats", "write crawlers.extensions.quiet_scrapy.PageStats"),
        ("DUPEFILTER_CLASS", "crawlers.redis.seen_urls.Filter", "leave it out"),
        ("EXTENSIONS", {"crawlers.extensions.crawl_owner.Rounds": 1}, "leave it out"),
    ],
)
def test_class_that_moved_is_named(name, value, message):
    with pytest.raises(ConfigError) as raised:
        check_settings(project_settings(**{name: value}))
    assert re.fullmatch(rf"{name}: there is no crawlers\.[\w.]+ any more; {message}", str(raised.value))


def test_file_may_be_called_as_this_package():
    check_settings(project_settings(ERROR_LOG_FILE="crawlers.2026.csv"))


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


@pytest.mark.parametrize("columns", range(60, 130))
def test_lines_of_help_are_no_headings(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    parser = ArgumentParser(formatter_class=HelpFormatter)
    parser.add_argument("--table", help="write a table of URLs or links; may be repeated (default: RESULT_TABLES)")
    assert sum(set(line) == {"="} for line in parser.format_help().splitlines()) == 2
