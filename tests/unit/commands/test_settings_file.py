"""`--settings-file` gives settings to every command of the project; those of the command line take precedence."""

import pytest

from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

BODIES = {f"/{n or ''}": links(f"/{n + 1}") for n in range(9)}
FILE = 'MAX_LEVEL = 2\nCRAWL = "from-file"\nSITE_DELAY_SECONDS = 0.0\nGRAPH_FORMATS = ["csv"]\n'


@pytest.mark.parametrize(
    ("arguments", "levels", "name"),
    [
        (["--settings-file", "crawl.toml"], 2, "from-file"),
        (["-s", "SETTINGS_FILE=crawl.toml"], 2, "from-file"),  # as scrapyd passes it: -d setting=SETTINGS_FILE=…
        (["-s", "MAX_LEVEL=1", "--settings-file", "crawl.toml", "-s", "CRAWL=mine"], 1, "mine"),
    ],
)
def test_crawl_uses_the_settings_of_the_file(tmp_path, arguments, levels, name):
    (tmp_path / "crawl.toml").write_text(FILE)
    project = Project(tmp_path)
    with Web(site=pages(BODIES)) as web:
        project.run("crawl", "plain", "-a", f"hosts={web.hosts()}", *arguments).done()
    assert project.query("SELECT name FROM crawl") == [(name,)]
    assert project.query("SELECT max(level) FROM page WHERE status = 200") == [(levels,)]
    assert {path.suffix for path in (tmp_path / "result").glob("127*.nodes.*")} == {".csv"}


TYPO = ("MAX_LEVLE = 3\n", "crawl.toml: unknown setting MAX_LEVLE")


@pytest.mark.parametrize(
    ("command", "text", "sentence"),
    [
        (["crawl", "plain", "-a", "hosts=a.example"], *TYPO),
        (["explain", "http://a.example"], *TYPO),
        (["graph"], *TYPO),
        (["lab", "replay"], *TYPO),
        (["sites", "list"], *TYPO),
        (["graph"], 'SETTINGS_FILE = "other.toml"\n', "one file can't include another"),
    ],
)
def test_mistake_in_the_file_is_one_sentence_of_every_command(tmp_path, command, text, sentence):
    (tmp_path / "crawl.toml").write_text(text)
    before = sorted(tmp_path.iterdir())
    ended = Project(tmp_path).run(*command, "--settings-file", "crawl.toml")
    assert (ended.status, ended.output, len(ended.errors)) == (2, "", 1), ended.log
    assert sentence in ended.errors[0]
    assert "Traceback" not in ended.log
    assert sorted(tmp_path.iterdir()) == before
