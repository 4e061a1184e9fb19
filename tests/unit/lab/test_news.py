"""`scrapy lab news` shows the results of iterations and days, of one crawl or several."""

import csv
from argparse import Namespace

import pytest
from scrapy.settings import Settings

from crawlers import settings as defaults
from crawlers.errors import ConfigError
from crawlers.lab import news
from crawlers.storage.database import Database
from crawlers.storage.schema.news_tables import IterationRow
from tests.support.news_store import DAY, NewsStore


@pytest.fixture
def url(database_url):
    """The URL of a store of the crawls `bare` and `ruled`, and of `none` without iterations."""
    database = Database(database_url)
    bare, ruled = NewsStore(database, "bare"), NewsStore(database, "ruled")
    bare.write(*(IterationRow(bare.id, n, 100.0 * n, 100.0 * n + 99, 0, 90, 5, 5, 9, 1, 9 * n) for n in range(1, 70)))
    ruled.write(IterationRow(ruled.id, 1, 100.0, 199.0, 80, 10, 0, 10, 75, 2, 75))
    for number in range(3):
        ruled.document(f"/{number}", number * DAY)
    NewsStore(database, "none")
    database.close()
    return database_url


@pytest.fixture
def lab(url, capsys):
    def run(*names, **options):
        settings = Settings({"DATABASE_URL": url})
        settings.setmodule(defaults, priority="default")
        news.run(Namespace(names=list(names), **({"crawl": None, "out": None, "picture": None} | options)), settings)
        return capsys.readouterr().out.splitlines()

    return run


def test_iterations_and_days_are_printed_as_tables(lab):
    lines = lab("ruled")
    assert lines[0] == "crawl ruled (number 2, running): 75 documents"
    assert lines[2].split() == ["1", "1970-01-01", "00:01", "80", "10", "10", "0", "75", "2", "75.0%"]
    assert [line.split() for line in lines[5:]] == [
        ["1970-01-01", "1", "1", "100.0%"],
        ["1970-01-02", "1", "2", "50.0%"],
        ["1970-01-03", "1", "3", "33.3%"],
    ]
    assert lab(crawl="ruled") == lines


def test_many_iterations_share_lines_and_the_file_has_all(lab, tmp_path):
    out = tmp_path / "news.csv"
    lines = lab("bare", out=str(out))
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
    ("names", "options", "message"),
    [
        (["none"], {}, "^CRAWL=none has no iterations"),
        (["unknown"], {}, "^CRAWL=unknown: "),
        (["bare"], {"picture": "news.gif"}, r"must end with \.svg or \.png"),
        (["bare"], {"out": "/dev/null/x.csv"}, "^--out=/dev/null/x.csv can't be written"),
    ],
)
def test_invalid_input_is_reported_in_one_sentence(lab, names, options, message):
    with pytest.raises(ConfigError, match=message):
        lab(*names, **options)
