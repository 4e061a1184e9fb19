"""Messages suggest the program that the user typed."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

import crawlers
from crawlers.inputs.program import program, suggested


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("crawlers", "crawlers"),
        ("/usr/bin/crawlers", "crawlers"),
        ("/venv/bin/scrapy", "scrapy"),
        ("/lib/scrapyd/runner.py", "scrapy"),
        ("", "scrapy"),
    ],
)
def test_program_is_what_the_user_typed(monkeypatch, typed, shown):
    monkeypatch.setattr(sys, "argv", [typed])
    assert program() == shown


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("use it with scrapy crawl news -a sources=sources.yaml", "use it with crawlers news sources.yaml"),
        ("use scrapy crawl broad -a hosts=hosts.txt -s SCOPE=all", "use crawlers broad hosts.txt -s SCOPE=all"),
        ("add them with scrapy sites add URL", "add them with crawlers sites add URL"),
        ("`scrapy sites list --all` shows all seeds", "`crawlers sites list --all` shows all seeds"),
        ("unknown option -x; scrapy crawl --help shows all", "unknown option -x; crawlers --help shows all"),
        ("scrapy explain URL shows the status", "crawlers explain URL shows the status"),
        ("the next `scrapy crawl news` polls it", "the next `crawlers news` polls it"),
        ("a crawl of scrapy crawl topic with --crawl", "a crawl of crawlers topic with --crawl"),
        ("scrapy crawl [options] <spider> [<sites or file>]", "crawlers [options] <spider> [<sites or file>]"),
        ("scrapy lab simulate | replay [options]", "crawlers lab simulate | replay [options]"),
        ("hosts is given twice: a.example and -a hosts=b.example", None),
        ("scrapy crawls; myscrapy crawl news; scrapy.cfg", None),
    ],
)
def test_messages_suggest_the_program_that_the_user_typed(monkeypatch, message, shown):
    monkeypatch.setattr(sys, "argv", ["/venv/bin/scrapy"])
    assert suggested(message) == message
    monkeypatch.setattr(sys, "argv", ["crawlers"])
    assert suggested(message) == (message if shown is None else shown)


def test_no_message_of_the_project_keeps_a_command_of_scrapy(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["crawlers"])
    texts = [
        node.value
        for path in Path(crawlers.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    named = [text for text in texts if re.search(r"\bscrapy (crawl|graph|explain|sites|lab)\b", text)]
    assert len(named) > 20
    assert not [text for text in named if re.search(r"\bscrapy (crawl|graph|explain|sites|lab)\b", suggested(text))]


def test_printed_commands_are_those_of_the_program():
    """A literal command of scrapy in a call of print() has to pass through `suggested`."""
    unmended = [
        ast.unparse(call)
        for path in Path(crawlers.__file__).parent.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("print", "UsageError")
        if re.search(r"scrapy (crawl|graph|explain|sites|lab)\b", ast.unparse(call))
        and "suggested(" not in ast.unparse(call)
    ]
    assert not unmended
