"""`scrapy explain --search` finds documents by their words."""

import pytest

from crawlers.commands.explain import Command
from tests.support.command_here import run_here
from tests.support.missions.news.news_store import OTHER, SITE, NewsStore


@pytest.fixture
def url(database, database_url):
    """The URL of a store of two crawls."""
    crawl = NewsStore(database)
    crawl.document("/a", 1e9, title="The ferry", text="It is\nlate, the ferry.", published="2001-09-09T03:46:40+02:00")
    crawl.document("/b", 1e9, site=OTHER, title="A ship", text="Faster than any ferry.")
    NewsStore(database, "other").document("/c", 1e9, title="Another ferry", text="And its ferry.")
    return database_url


@pytest.fixture
def search(url, capsys):
    def found(words, *arguments):
        return run_here(Command(), url, "--search", words, *arguments), *capsys.readouterr()

    return found


@pytest.mark.both_stores
def test_documents_are_shown_with_date_title_url_and_snippet(search):
    status, output, errors = search("late ferry")
    assert (status, errors) == (0, "")
    *found, snippet = output.splitlines()
    assert found == ["2001-09-09  The ferry", f"  {SITE}/a"]
    assert snippet.removesuffix(".") == "  It is [late], the [ferry]"


def test_text_of_strangers_does_not_control_the_terminal(database, search):
    title = "A \x9b31m\u202eyrref\u2066"
    NewsStore(database, "hostile").document("/d", 1e9, title=title, text="A galleon\x1b[2J.")
    output = search("galleon")[1]
    assert "  A \ufffd31m\ufffdyrref\ufffd\n" in output
    assert not set("\x1b\x9b\u202e\u2066") & set(output)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--limit", "0"], "--limit 0 is too small; expected at least 1"),
        (["--crawl", "x"], "CRAWL=x: "),
        (["--site", "nowhere.example"], "'nowhere.example' matches no seed"),
    ],
)
def test_invalid_options_of_the_search_are_reported_in_one_sentence(search, arguments, message):
    status, output, errors = search("ferry", *arguments)
    assert (status, output) == (2, "")
    assert errors.startswith(f"Error: {message}")
