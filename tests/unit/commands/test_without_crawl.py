"""Commands of Scrapy that are not crawls write nothing, and leave the results of crawls as they are."""

import argparse

import pytest
from scrapy.cmdline import _get_commands_dict

from crawlers.cli.without_crawl import WithoutCrawl
from tests.support.opened_crawl import project_settings
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

CRAWLS = {"crawl", "runspider"}
READERS = {"explain", "graph", "lab", "report", "sites", "web", "workers"}
HARMLESS = {"edit", "genspider", "list", "settings", "startproject", "version"}  # they start no crawler
ROBOTS = "User-agent: *\nDisallow: /secret"
BODIES = {"/": "<title>Home</title>" + links("/a"), "/a": "<title>A</title>"}


def commands():
    return _get_commands_dict(project_settings(), inproject=True)


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_every_command_of_scrapy_is_known_to_be_a_crawl_or_not():
    without = {name for name, command in commands().items() if isinstance(command, WithoutCrawl)}
    assert without == commands().keys() - CRAWLS - READERS - HARMLESS


@pytest.mark.parametrize("name", ["bench", "check", "fetch", "parse", "shell", "view"])
def test_scrapy_runs_without_components_of_the_project(name):
    command = commands()[name]
    command.settings = settings = project_settings()
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    command.add_options(parser)
    opts, rest = parser.parse_known_args(["-s", 'EXTENSIONS={"mine.Extension": 5}', "-s", "USER_AGENT=me"])
    settings.set("DOWNLOADER_MIDDLEWARES", {**settings.getdict("DOWNLOADER_MIDDLEWARES"), "mine.Mw": 7}, "project")
    command.process_options(rest, opts)
    assert settings["SCHEDULER"] == "scrapy.core.scheduler.Scheduler"
    parts = ("ADDONS", "DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES", "SPIDER_MIDDLEWARES")
    assert {part: settings.getdict(part) for part in parts if settings.getdict(part)} == {
        "EXTENSIONS": {"mine.Extension": 5},
        "DOWNLOADER_MIDDLEWARES": {"mine.Mw": 7},
    }
    assert settings.getbool("ROBOTSTXT_OBEY")
    assert settings["USER_AGENT"] == "me"
    is_polite = settings.getfloat("DOWNLOAD_DELAY") == 1.0 and settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") == 2
    assert is_polite == (name != "bench")


@pytest.mark.parametrize(
    ("command", "arguments", "part"),
    [
        ("fetch", ["{url}"], "<title>Home</title>"),
        ("shell", ["{url}", "-c", "response.css('title::text').get()"], "Home"),
        ("parse", ["--spider", "titles", "--nocolour", "{url}"], "[{'title': 'Home'}]"),
        ("check", ["titles"], ""),
    ],
)
def test_nothing_is_written_and_a_stop_file_does_not_matter(tmp_path, command, arguments, part):
    project = Project(tmp_path, SPIDER_MODULES="tests.support.sites.titles", SITE_DELAY_SECONDS=0)
    (tmp_path / "stop.txt").touch()
    with Web(site=pages(BODIES, ROBOTS)) as web:
        url = web["site"].origin + "/"
        ended = project.run(command, *(one.format(url=url) for one in arguments)).done()
    assert part in ended.output, ended.log
    assert files(tmp_path) == ["stop.txt"]


def test_robots_txt_is_obeyed(tmp_path):
    with Web(site=pages({"/secret": "<title>Secret</title>"}, ROBOTS)) as web:
        ended = Project(tmp_path).run("fetch", web["site"].origin + "/secret")
        assert web["site"].paths == ["/robots.txt"]
    assert "Secret" not in ended.output


def test_crawl_in_the_folder_stays_the_latest(project):
    with Web(site=pages(BODIES)) as web:
        url = web["site"].origin + "/"
        assert project.crawl(web.hosts()).status == 0
        graphs = {path: path.read_bytes() for path in (project.folder / "result").iterdir()}
        assert project.run("fetch", url).status == 0
    explained = project.run("explain", url)
    assert "page, since" in explained.output
    assert explained.log == "Reading the crawl plain (number 1, finished)\n"
    assert project.run("graph").status == 0
    assert graphs == {path: path.read_bytes() for path in (project.folder / "result").iterdir()}


@pytest.mark.parametrize("command", ["fetch", "view"])
@pytest.mark.parametrize(
    ("spider", "message"), [("plain", "run scrapy crawl plain"), ("nobody", "there is no such spider")]
)
def test_spider_that_can_not_be_used_is_one_sentence(tmp_path, command, spider, message):
    ended = Project(tmp_path).run(command, "http://127.0.0.1:9/", "--spider", spider)
    assert ended.status == 2
    assert message in ended.log
    assert "Traceback" not in ended.log
    assert files(tmp_path) == []
