"""Messages suggest the program that the user typed."""

from __future__ import annotations

import sys

import pytest

from crawlers.inputs.program import program


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
