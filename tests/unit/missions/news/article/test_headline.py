import pytest

from crawlers.missions.news.article.article_reader import headline, language_of

GERMAN = "Der Sturm kam in der Nacht vom Meer und nahm in der Altstadt die Dächer von mehreren Häusern mit."


def test_other_declared_languages_are_believed():
    assert language_of("nb", GERMAN * 2) == "nb"


URL = "https://www.example-post.test/a"


@pytest.mark.parametrize(
    ("window", "names"),
    [
        ("A storm in May | Example Post", []),
        ("A storm in May – The Daily – All the News", ["The Daily – All the News"]),
        ("A storm in May: example-post.test", []),
        ("A storm in May_Daily", ["Daily"]),
        ("A storm in May :: Daily", ["Daily"]),
        ("A storm in May > Daily", ["Daily"]),
        ("A storm in May ~ Daily", ["Daily"]),
        ("  A  storm in\nMay ", []),
    ],
)
def test_name_of_the_site_is_removed_from_the_end(window, names):
    assert headline("", [], "", window, names, URL) == "A storm in May"


def test_most_frequent_title_is_chosen():
    assert headline("A storm", ["Storm!"], "A storm", "A storm | Daily", ["Daily"], URL) == "A storm"
    assert headline("", ["Big news", "A storm"], "A storm", "A storm", [], URL) == "A storm"


def test_heading_that_begins_the_title_of_the_window_is_preferred():
    window = "A storm in May | All about the weather"
    assert headline("", ["All about the weather", "A storm in May"], "", window, [], URL) == "A storm in May"
    assert headline("", ["Welcome"], "", window, [], URL, lesser=["Topics", "A storm in May"]) == "A storm in May"
    assert headline("", ["Welcome"], "", window, [], URL, lesser=["A"]) == "Welcome"


def test_top_level_domain_is_no_name_of_the_site():
    assert headline("A storm on TV: AI", [], "", "", [], "https://post.ai/1") == "A storm on TV: AI"


def test_few_headings_of_a_page_are_read():
    headings, lesser = (iter([f"{name} {number}" for number in range(1_000)]) for name in ("Storm", "Sea"))
    assert headline("", headings, "", "Storm 3", [], URL, lesser) == "Storm 3"
    assert len(list(headings)) > 900 < len(list(lesser))
