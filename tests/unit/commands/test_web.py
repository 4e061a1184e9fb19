"""`scrapy web` shows a store that is there."""

from __future__ import annotations

from argparse import Namespace

import pytest
from scrapy.settings import Settings

from crawlers.commands.web import Command


@pytest.mark.parametrize(
    ("program", "remedy"),
    [
        ("scrapy", "crawl first (scrapy crawl sitegraph -a hosts=example.org), or name the right file"),
        ("crawlers", "crawl first (crawlers sitegraph example.org), or name the right file"),
    ],
)
def test_folder_without_a_store_stays_so(tmp_path, monkeypatch, capsys, program, remedy):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [program, "web"])
    monkeypatch.setattr("crawlers.web.serving.serve", lambda *_: None)
    command = Command()
    command.settings = Settings()
    command.settings.setmodule("crawlers.settings", priority="default")
    command.run([], Namespace(host="127.0.0.1", port=8060, set=[], settings_file=None))
    assert command.exitcode == 2
    said = capsys.readouterr()
    assert said.err == f"Error: DATABASE_URL: {tmp_path / 'crawl.sqlite'} does not exist; {remedy}\n"
    assert said.out == ""
    assert list(tmp_path.iterdir()) == []
