"""Every mistake in a topic is reported in one sentence, before the first request, with nothing written."""

import pytest

from tests.support.running import Project

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
    ("text", "arguments", "settings", "parts"),
    [
        (GOOD + "alpha: 1.5\n", ["-a", "topic=topic.yaml"], {}, ("topic.yaml:3", "1.5", "from 0 to 1")),
        (GOOD + "examples: [missing.html]\n", ["-a", "topic=topic.yaml"], {}, ("missing.html", "No such file")),
        (GOOD, [], {}, ("no topic is given", "-a topic=topic.yaml")),
        (GOOD, ["-a", "topic=missing.yaml"], {}, ("missing.yaml", "No such file")),
        (GOOD, ["-a", "hosts=a.example"], {}, ("unknown argument hosts", "-a takes topic")),
        (GOOD, ["-a", "topic=topic.yaml"], {"PAGE_BUDGET": "few"}, ("PAGE_BUDGET", "few")),
    ],
)
def test_invalid_topics_arguments_and_settings_are_refused(refused, text, arguments, settings, parts):
    sentence = refused(text, *arguments, **settings)
    assert all(part in sentence for part in parts), sentence
