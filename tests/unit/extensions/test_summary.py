"""What a crawl says when it stops, and what only LOG_LEVEL=DEBUG shows."""

import pytest

from tests.support.running import Project
from tests.support.sites.server import Web, links, pages
from tests.support.terminal import Terminal

SITE = pages({"/": links("/a", "/missing"), "/a": links("/")})
HEADING = "Crawl plain is finished: 2 pages with 3 links on 1 site"
DUMPS = ("Overridden settings", "Enabled ", "Dumping Scrapy stats", "Versions")


@pytest.fixture(scope="module")
def site():
    with Web(site=SITE) as web:
        yield web.hosts()


def test_log_has_the_summary_in_place_of_the_dumps(tmp_path, site):
    url = f"sqlite:///{tmp_path}/other.sqlite"
    ended = Project(tmp_path, DATABASE_URL=url).crawl(site, GRAPH_FORMATS="csv", RESULT_TABLES="")
    assert f"INFO: {HEADING}" in ended.log
    assert "Errors: status 404 (1)" in ended.log
    assert f"scrapy explain -s DATABASE_URL={url} http" in ended.log
    assert f"scrapy graph -s DATABASE_URL={url} --format csv" in ended.log
    files = [line for line in ended.log.splitlines() if line.startswith("Files: ")]
    assert [".".join(line.split(".")[-2:]) for line in files] == ["nodes.csv", "edges.csv"]
    assert not [dump for dump in DUMPS if dump in ended.log]
    assert "\x1b" not in ended.log


@pytest.mark.parametrize("settings", [{"LOG_FILE": "crawl.log"}, {"LOG_LEVEL": "ERROR"}])
def test_summary_is_on_the_terminal_once_and_last(tmp_path, site, settings):
    with Terminal() as terminal:
        run = Project(tmp_path, **settings).start(
            "crawl", "plain", "-a", f"hosts={site}", before=terminal.before, is_fresh=True
        )
        assert run.wait().status == 0
    lines = terminal.screen().lines
    assert sum(line.startswith(HEADING) for line in lines) == 1, lines
    assert any(line.startswith("Files: result/") for line in lines)
    assert not any("pages/s" in line for line in lines)  # the live table
    if "LOG_FILE" in settings:
        log = (tmp_path / "crawl.log").read_text("utf-8")
        assert HEADING in log
        assert "\x1b" not in log
        assert not any(" INFO: " in line for line in lines)
