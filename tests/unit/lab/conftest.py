"""Runs the parts of `scrapy lab` for the tests of this folder."""

import argparse

import pytest
from scrapy.settings import Settings

from crawlers import settings as defaults
from crawlers.errors import ConfigError
from crawlers.lab import PARTS
from crawlers.lab.options import LabOptions


@pytest.fixture
def lab(monkeypatch, capsys):
    """Run a part of `scrapy lab` in this process: `lab(project, part, *arguments)`; an error must print nothing."""

    def run(project, part, *arguments):
        parser = argparse.ArgumentParser()
        parser.add_argument("-s", action="append", default=[])
        options = LabOptions(parser, PARTS)
        opts = parser.parse_args(arguments)
        settings = Settings()
        settings.setmodule(defaults)
        settings.set("DATABASE_URL", project.database_url)
        settings.update(dict(pair.split("=", 1) for pair in opts.s), priority="cmdline")
        monkeypatch.chdir(project.folder)
        try:
            options.refuse_others(part, opts)
            PARTS[part].run(opts, settings)
        except ConfigError:
            assert capsys.readouterr().out == ""
            raise
        return capsys.readouterr().out

    return run
