"""Every mistake in a topic is reported in one sentence, before the first request, with nothing written."""

from __future__ import annotations

import pytest

from tests.support.sites.project import Project

GOOD = """\
keywords: [unicode]
roots: [http://127.0.0.1:9/]
"""


@pytest.fixture
def refused(tmp_path):
    """Runs `scrapy crawl` with a topic.yaml of *text*, and returns the error message."""
    project = Project(tmp_path)

    def run(text, *arguments, spider="topic", **settings):
        (tmp_path / "topic.yaml").write_text(text, "utf-8")
        ended = project.run("crawl", spider, *arguments, **settings)
        print(ended.log)
        assert ended.status == 2
        assert len(ended.errors) == 1
        assert "Traceback" not in ended.log
        assert " ERROR: " not in ended.log
        assert [path.name for path in tmp_path.iterdir()] == ["topic.yaml"]
        return ended.errors[0]

    return run


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            GOOD + "{alpha: 0.5, beta: 0.3, gamma: 0.3}"[1:-1].replace(", ", "\n"),
            ("topic.yaml:3", "sum to 1.1", "expected 1"),
        ),
        (GOOD + "alpha: 1.5\n", ("topic.yaml:3", "1.5", "from 0 to 1")),
        (GOOD + "strategy: widest\n", ("topic.yaml:3", "'widest'", "mixed")),
        (GOOD + "language: klingon\n", ("topic.yaml:3", "'klingon'", "auto")),
        (GOOD + 'examples: ["\\U00110000"]\n', ("topic.yaml:3", "Unicode character escape")),
        (GOOD + 'examples: ["a\\0b"]\n', ("can't be read", "correct or remove it")),
        (GOOD + "budget: some\n", ("topic.yaml:3", "'some'", "number of pages")),
        (
            GOOD + "scope: [example.org]\n",
            ("topic.yaml:2", "http://127.0.0.1:9/", "outside the scope", "add 127.0.0.1"),
        ),
        (GOOD + "colour: red\n", ("topic.yaml:3", "colour")),
        (GOOD + "examples: [missing.html]\n", ("missing.html", "No such file", "correct or remove it")),
        (GOOD.replace("[unicode]", "[]"), ("topic.yaml", "keywords and examples are missing")),
        (GOOD.replace("[unicode]", "['']"), ("topic.yaml:1", "missing value")),
        (GOOD.replace("[unicode]", "[the]"), ("topic.yaml:1", "'the'", "has no term")),
        ("keywords: [unicode]\n", ("topic.yaml", "roots is missing")),
        ("roots: [http://127.0.0.1:9/]\n", ("topic.yaml", "keywords and examples are missing")),
        ("keywords: [unicode\n", ("topic.yaml", "not valid YAML")),
    ],
)
def test_errors_in_the_file_are_reported_with_their_lines(refused, text, parts):
    sentence = refused(text, "-a", "topic=topic.yaml")
    assert all(part in sentence for part in parts), sentence


@pytest.mark.parametrize(
    ("arguments", "settings", "parts"),
    [
        ([], {}, ("no topic is given", "-a topic=topic.yaml")),
        (["-a", "topic="], {}, ("no topic is given", "-a topic=topic.yaml")),
        (["-a", "topic=missing.yaml"], {}, ("missing.yaml", "No such file")),
        (["-a", "hosts=a.example"], {}, ("unknown argument hosts", "-a takes topic")),
        (["-a", "topic=topic.yaml"], {"TOPIC_STRATEGY": "links"}, ("TOPIC_STRATEGY", "the file of the topic")),
        (["-a", "topic=topic.yaml"], {"RESULT_FOLDER": "topic.yaml"}, ("RESULT_FOLDER=topic.yaml", "name another")),
        (["-a", "topic=topic.yaml"], {"PAGE_BUDGET": "few"}, ("PAGE_BUDGET", "few")),
    ],
)
def test_invalid_arguments_and_settings_are_refused(refused, arguments, settings, parts):
    sentence = refused(GOOD, *arguments, **settings)
    assert all(part in sentence for part in parts), sentence


@pytest.mark.parametrize(
    ("spider", "order", "parts"),
    [
        ("sitegraph", "topic", ("ORDER=topic needs a topic", "scrapy crawl topic -a topic=topic.yaml")),
        ("broad", "topic", ("ORDER=topic needs a topic", "scrapy crawl topic -a topic=topic.yaml")),
        ("sitegraph", "fit", ("ORDER=fit needs URLs that are judged", "sitegraph does not", "scrapy crawl news")),
        ("broad", "learnt", ("ORDER=learnt needs the rewards", "broad does not", "scrapy crawl extlinks")),
    ],
)
def test_order_that_does_not_fit_the_spider_is_refused(refused, spider, order, parts):
    sentence = refused(GOOD, "-a", "hosts=http://127.0.0.1:9", spider=spider, ORDER=order)
    assert all(part in sentence for part in parts), sentence
