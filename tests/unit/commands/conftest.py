"""Finished crawls for the tests of commands."""

from __future__ import annotations

import argparse

import pytest
from scrapy.settings import Settings

from crawlers import settings as defaults
from crawlers.cli.lab.lab_options import add_common
from crawlers.commands.lab import PARTS
from crawlers.errors import ConfigError
from tests.support.command_web import first
from tests.support.sites.project import Project
from tests.support.sites.server import Web, links, pages


@pytest.fixture(scope="session")
def crawled(tmp_path_factory):
    """A finished crawl of two sites that link to each other."""
    project = Project(tmp_path_factory.mktemp("commands"))

    async def second(exchange):
        origin = web["first"].origin
        await pages({"/": links(f"{origin}/", f"{origin}/a.html", "/x"), "/x": "<p>x"})(exchange)

    with Web(first=first, second=second) as web:
        outcome = project.crawl(web.hosts(), CRAWL="mine")
        assert outcome.status == 0, outcome.log
    return project, web["first"].origin, web["second"].origin


@pytest.fixture(scope="session")
def broad(tmp_path_factory):
    """A broad crawl of two sites that link to each other; /news of the second one changed after the first visit."""
    project = Project(tmp_path_factory.mktemp("broad"))

    async def second(exchange):
        url_history = "/old" if exchange.site.count("/news") == 1 else "/new"
        bodies = {"/": links(f"{web['first'].origin}/", "/news"), "/news": links("/", url_history)}
        await pages(bodies | {"/old": "<title>Old</title>", "/new": "<title>New</title>"})(exchange)

    async def home(exchange):
        await pages({"/": links(f"{web['second'].origin}/", f"{web['second'].origin}/news")})(exchange)

    with Web(first=home, second=second) as web:
        outcome = project.run("crawl", "broad", "-a", f"hosts={web.hosts()}", PAGE_BUDGET=40)
        assert outcome.status == 0, outcome.log
    return project, web["first"].origin, web["second"].origin


@pytest.fixture
def lab(monkeypatch, capsys):
    """Run a part of `scrapy lab` in this process: `lab(folder, part, *arguments)`; an error must print nothing."""

    def run(folder, part, *arguments):
        parser = argparse.ArgumentParser()
        parser.add_argument("-s", action="append", default=[])
        add_common(parser.add_argument_group("all parts"))
        for name, module in PARTS.items():
            module.add_options(parser.add_argument_group(name))
        opts = parser.parse_args(arguments)
        settings = Settings()
        settings.setmodule(defaults)
        settings.update(dict(pair.split("=", 1) for pair in opts.s), priority="cmdline")
        monkeypatch.chdir(folder)
        try:
            PARTS[part].run(opts, settings)
        except ConfigError:
            assert capsys.readouterr().out == ""
            raise
        return capsys.readouterr().out

    return run
