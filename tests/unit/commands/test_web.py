"""`scrapy web` shows a store that is there."""

import socket
from argparse import Namespace

import pytest

from crawlers.commands.web import Command
from crawlers.store.database import Database
from tests.support.opened_crawl import project_settings


def run(monkeypatch, port):
    """Return the exit status of the command."""
    monkeypatch.setattr("crawlers.web.serving.serve", lambda *_: None)
    command = Command()
    command.settings = project_settings()
    command.run([], Namespace(host="127.0.0.1", port=port, set=[], settings_file=None))
    return command.exitcode


@pytest.mark.usefixtures("plain_missions")
@pytest.mark.parametrize(
    ("program", "remedy"),
    [
        ("scrapy", "crawl first (scrapy crawl plain -a hosts=example.org), or name the right file"),
        ("crawlers", "crawl first (crawlers plain example.org), or name the right file"),
    ],
)
def test_folder_without_a_store_stays_so(tmp_path, monkeypatch, capsys, program, remedy):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [program, "web"])
    assert run(monkeypatch, 8060) == 2
    error = f"Error: DATABASE_URL: {tmp_path / 'crawl.sqlite'} does not exist; {remedy}\n"
    assert capsys.readouterr() == ("", error)
    assert list(tmp_path.iterdir()) == []


def test_address_is_announced_when_the_panel_has_its_port(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Database("sqlite:///crawl.sqlite").close()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run(monkeypatch, port) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.endswith(f"--port {port} can't be used: Address already in use; choose another --port\n")
    assert run(monkeypatch, port) == 0
    said = capsys.readouterr().out
    assert said == f"The panel of sqlite:///crawl.sqlite is at http://127.0.0.1:{port}/; Ctrl-C ends it\n"
