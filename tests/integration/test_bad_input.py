"""Every mistake of the user is reported in one sentence, before the first request, with nothing changed."""

import sqlite3
from contextlib import closing

import pytest

from tests.support.of_missions import needs


@pytest.fixture
def refusal(web, crawl_in):
    """Runs a crawl that must be refused, after *prepare*, and returns the message."""

    def refused(hosts=None, prepare=lambda crawl: None, **settings):
        crawl = crawl_in("refused", web.hosts("library") if hosts is None else hosts)
        prepare(crawl)
        before = crawl.snapshot()
        web.counts.clear()
        ended = crawl.run(**settings)
        print(ended.log)
        assert ended.status == 2
        assert len(ended.errors) == 1
        assert "Traceback" not in ended.log
        assert " ERROR: " not in ended.log
        assert web.requests == 0
        assert crawl.snapshot() == before
        return ended.errors[0]

    return refused


@pytest.mark.parametrize("workers", [1, 3])
def test_all_bad_lines_of_the_hosts_file_are_named(refusal, workers):
    hosts = ["http://127.0.0.1:9", "ftp://a.example", "b.example;many", "# fine", "c.example;1;-1", "d.example;1;2;3;4"]
    sentence = refusal(hosts, WORKERS=workers).removeprefix("Error: ")
    wrong = [line for line in sentence.splitlines() if line.startswith("hosts.txt:")]
    assert [line.split(":")[1] for line in wrong] == ["2", "3", "5", "6"]
    for line, part in zip(wrong, ("'ftp'", "'many'", "'-1'", "5 fields"), strict=True):
        assert part in line


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["hosts=missing.txt"], ("missing.txt", "no such file")),
        ([], ("no sites are given", "list them in hosts.txt", "-a hosts=")),
        (["hosts="], ("no sites are given", "list them in hosts.txt", "-a hosts=")),
        (["hosts=http://[::1"], ("http://[::1",)),
    ],
)
def test_missing_hosts_are_refused(refusal, arguments, parts):
    sentence = refusal(prepare=lambda crawl: (crawl.folder / "hosts.txt").unlink(), arguments=arguments)
    assert all(part in sentence for part in parts)


@pytest.mark.parametrize(
    ("spider", "more", "arguments", "settings", "parts"),
    [
        pytest.param(*row, marks=needs(row[0]))
        for row in (
            ("topic", "examples: [missing.html]\n", ["topic=topic.yaml"], {}, ("missing.html", "No such file")),
            ("topic", "", [], {}, ("no topic is given", "-a topic=topic.yaml")),
            ("topic", "", ["topic=missing.yaml"], {}, ("missing.yaml", "No such file")),
            ("topic", "", ["hosts=a.example"], {}, ("unknown argument hosts", "-a takes topic")),
            ("topic", "", ["topic=topic.yaml"], {"PAGE_BUDGET": "few"}, ("PAGE_BUDGET", "few")),
            ("news", "", [], {}, ("sources.yaml",)),
        )
    ],
)
def test_missing_topics_and_sources_are_refused(refusal, spider, more, arguments, settings, parts):
    def prepare(crawl):
        crawl.spider = spider
        (crawl.folder / "topic.yaml").write_text(f"keywords: [unicode]\nroots: [http://127.0.0.1:9/]\n{more}", "utf-8")

    sentence = refusal(prepare=prepare, arguments=arguments, **settings)
    assert all(part in sentence for part in parts), sentence


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ({"RULE": "chess"}, ("RULE='chess'", "roundrobin")),
        ({"GRAPH_FORMATS": "gexf,dot"}, ("GRAPH_FORMATS", "dot", "graphml")),
        ({"DATABASE_URL": "sqlite:///no/such/folder.sqlite"}, ("DATABASE_URL", "no/such")),
        ({"RESULT_FOLDER": "hosts.txt"}, ("RESULT_FOLDER=hosts.txt", "name another folder")),
        ({"COMMON_LOG_FILE": "hosts.txt"}, ("COMMON_LOG_FILE=hosts.txt must end with .csv",)),
        ({"STOP_FILE": "crawl.sqlite"}, ("STOP_FILE=crawl.sqlite is the store",)),
        ({"FEEDS": '{"hosts.txt": {"format": "csv"}}'}, ("-o=hosts.txt is a file of something else",)),
    ],
)
def test_an_invalid_setting_is_refused(refusal, settings, parts):
    sentence = refusal(**settings)
    assert all(part in sentence for part in parts)


def edited(statement):
    """Return what makes a store, and edits it."""

    def prepare(crawl):
        assert crawl.run(MAX_LEVEL=0).status == 0
        with closing(sqlite3.connect(crawl.database)) as connection, connection:
            connection.execute(statement)

    return prepare


def read_only(crawl):
    assert crawl.run(MAX_LEVEL=0).status == 0
    (crawl.folder / "crawl.sqlite-wal").mkdir()  # permissions would not hold for root


@pytest.mark.parametrize(
    ("prepare", "parts"),
    [
        (
            edited("UPDATE schema_version SET number = 9999"),
            ("another version of this program (schema 9999", "name an"),
        ),
        (edited("UPDATE crawl SET state = 'interrupted', mission = 'news'"), ("CRAWL=plain",)),
        (read_only, ("DATABASE_URL",)),
        (lambda crawl: crawl.database.write_text("Dear diary, " * 1000), ("crawl.sqlite", "is not an SQLite database")),
    ],
)
def test_a_store_that_can_not_be_used_is_refused(refusal, prepare, parts):
    sentence = refusal(prepare=prepare)
    assert all(part in sentence for part in parts)


def test_a_table_that_a_store_lost_is_not_replaced_by_an_empty_one(web, crawl_in):
    crawl = crawl_in("lost", web.hosts("library"))
    edited("DROP TABLE link")(crawl)
    ended = crawl.run()
    assert (ended.status, len(ended.errors)) == (2, 1)
    assert "has no table link any more, so the crawl was stopped; restore it" in ended.errors[0]
    assert crawl.query("SELECT name FROM sqlite_master WHERE name = 'link'") == []


@pytest.mark.parametrize(
    ("path", "what"),
    [("missing/crawl.log", "can't be written (it has no folder); create it,"), (".", "must end with .log or .jsonl;")],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_log_file_that_can_not_be_written_is_refused(refusal, path, what, workers):
    error = refusal(LOG_FILE=path, WORKERS=workers)
    assert error.startswith(f"Error: LOG_FILE={path} {what}")
    assert error.endswith("name another file")
