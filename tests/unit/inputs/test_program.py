"""Messages suggest the program that the user typed.

The command of a crawl, as it is run and as it is stored.
"""

import ast
import re
import sys
from pathlib import Path

import pytest

import crawlers
from crawlers.inputs.program import CrawlCommand, suggested
from crawlers.web.pages.start_pages import command_of


@pytest.mark.usefixtures("plain_missions")
@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("use it with scrapy crawl plain -a hosts=hosts.txt", "use it with crawlers plain hosts.txt"),
        ("scrapy crawls; myscrapy crawl news; scrapy.cfg", None),
    ],
)
def test_messages_suggest_the_program_that_the_user_typed(monkeypatch, message, shown):
    monkeypatch.setattr(sys, "argv", ["/venv/bin/scrapy"])
    assert suggested(message) == message
    monkeypatch.setattr(sys, "argv", ["crawlers"])
    assert suggested(message) == (message if shown is None else shown)


@pytest.fixture(scope="module")
def nodes():
    """The nodes of the program's syntax trees."""
    paths = Path(crawlers.__file__).parent.rglob("*.py")
    return [node for path in paths for node in ast.walk(ast.parse(path.read_text("utf-8")))]


def test_no_message_of_the_project_keeps_a_command_of_scrapy(monkeypatch, nodes):
    monkeypatch.setattr(sys, "argv", ["crawlers"])
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    named = [text for text in texts if re.search(r"\bscrapy (crawl|graph|explain|sites|lab)\b", text)]
    assert len(named) > 20
    assert not [text for text in named if re.search(r"\bscrapy (crawl|graph|explain|sites|lab)\b", suggested(text))]


def test_printed_commands_are_those_of_the_program(nodes):
    """A literal command of scrapy in a call of print() has to pass through `suggested`."""
    unmended = [
        ast.unparse(call)
        for call in nodes
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("print", "UsageError")
        if re.search(r"scrapy (crawl|graph|explain|sites|lab)\b", ast.unparse(call))
        and "suggested(" not in ast.unparse(call)
    ]
    assert not unmended


def test_stored_command_is_read_back():
    stored = {
        "command": {"arguments": {"hosts": "hosts.txt"}, "settings": {"WORKERS": "2"}, "left_out": []},
        "seeds": ["http://x.test"],
    }
    assert command_of("broad", stored) == CrawlCommand("broad", {"hosts": "hosts.txt"}, {"WORKERS": "2"}, [])
