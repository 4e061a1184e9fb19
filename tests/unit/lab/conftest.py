"""Runs the parts of `scrapy lab` for the tests of this folder."""

import argparse

import pytest

from crawlers.errors import ConfigError
from crawlers.lab import PARTS
from crawlers.lab.options import LabOptions
from tests.support.opened_crawl import project_settings


@pytest.fixture
def lab(monkeypatch, capsys):
    """Run a part of `scrapy lab` in this process: `lab(project, part, *arguments)`.

    An error must be one line, print nothing and write no file.
    """

    def files(folder):  # without those that SQLite creates to read
        return sorted(path.name for path in folder.iterdir() if not path.name.startswith("crawl.sqlite-"))

    def run(project, part, *arguments):
        parser = argparse.ArgumentParser()
        parser.add_argument("names", nargs="*")
        parser.add_argument("-s", action="append", default=[])
        options = LabOptions(parser, PARTS)
        opts = parser.parse_args(arguments)
        given = dict(pair.split("=", 1) for pair in opts.s)
        settings = project_settings(**{"DATABASE_URL": project.database_url, **given})
        monkeypatch.chdir(project.folder)
        before = files(project.folder)
        try:
            options.refuse_others(part, opts)
            PARTS[part].run(opts, settings)
        except ConfigError as error:
            message = str(error)
            assert "\n" not in message
            assert (capsys.readouterr().out, files(project.folder)) == ("", before)
            raise
        return capsys.readouterr().out

    return run
