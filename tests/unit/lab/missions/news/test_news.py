"""`scrapy lab news` shows the results of iterations and days, of one crawl or several."""

import csv

import pytest

from crawlers.errors import ConfigError
from crawlers.missions.news.stored.news_tables import IterationRow
from tests.support.missions.news.news_store import DAY, NewsStore
from tests.support.running import Project


@pytest.fixture
def shown(database, tmp_path, lab):
    """The lines about a store of the crawls `bare` and `ruled`, and of `none` without iterations."""
    bare, ruled = NewsStore(database, "bare"), NewsStore(database, "ruled")
    bare.write(*(IterationRow(bare.id, n, 100.0 * n, 100.0 * n + 99, 0, 90, 5, 5, 9, 1, 9 * n) for n in range(1, 70)))
    ruled.write(IterationRow(ruled.id, 1, 100.0, 199.0, 80, 10, 0, 10, 75, 2, 75))
    for number in range(3):
        ruled.document(f"/{number}", number * DAY)
    NewsStore(database, "none")
    return lambda *arguments: lab(Project(tmp_path), "news", *arguments).splitlines()


def test_iterations_and_days_are_printed_as_tables(shown):
    lines = shown("ruled")
    assert lines[0] == "crawl ruled (number 2, running): 75 documents"
    assert lines[2].split() == ["1", "1970-01-01", "00:01", "80", "10", "10", "0", "75", "2", "75.0%"]
    assert [line.split() for line in lines[5:]] == [
        ["1970-01-01", "1", "1", "100.0%"],
        ["1970-01-02", "1", "2", "50.0%"],
        ["1970-01-03", "1", "3", "33.3%"],
    ]
    assert shown("--crawl", "ruled") == lines


def test_many_iterations_share_lines_and_the_file_has_all(shown, tmp_path):
    out = tmp_path / "news.csv"
    lines = shown("bare", "--out", str(out))
    assert len([line for line in lines if line.endswith("9.5%")]) == 23
    assert "a line is 3 iterations; --out FILE.csv has each" in lines
    assert lines[-1] == f"{out}: 69 iterations"
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["crawl"], row["number"], row["useful_share"]) for row in rows[:2]] == [
        ("bare", "1", "0.0947"),
        ("bare", "2", "0.0947"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none"], "^CRAWL=none has no iterations"),
        (["unknown"], "^CRAWL=unknown: "),
        (["bare", "--picture", "news.gif"], r"must end with \.svg or \.png"),
        (["bare", "--out", "/dev/null/x.csv"], "^--out=/dev/null/x.csv can't be written"),
    ],
)
def test_invalid_input_is_reported_in_one_sentence(shown, arguments, message):
    with pytest.raises(ConfigError, match=message):
        shown(*arguments)
