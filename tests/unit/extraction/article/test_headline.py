from __future__ import annotations

import pytest

from crawlers.extraction.article.headline import headline

URL = "https://www.example-post.test/a"


@pytest.mark.parametrize(
    ("window", "names"),
    [
        ("A storm in May | Example Post", []),
        ("A storm in May - Politics - Daily", ["Daily", "Politics"]),
        ("Daily: A storm in May", ["Daily"]),
        ("A storm in May – The Daily – All the News", ["The Daily – All the News"]),
        ("A storm in May: example-post.test", []),
        ("A storm in May_Daily", ["Daily"]),
        ("  A  storm in\nMay ", []),
    ],
)
def test_name_of_the_site_is_removed(window, names):
    assert headline("", [], "", window, names, URL) == "A storm in May"


def test_dash_within_a_title_is_kept():
    assert headline("", ["A storm - and a calm"], "", "", ["Daily"], URL) == "A storm - and a calm"


def test_most_frequent_title_is_chosen():
    assert headline("A storm", ["Storm!"], "A storm", "A storm | Daily", ["Daily"], URL) == "A storm"
    assert headline("", ["Big news", "A storm"], "A storm", "A storm", [], URL) == "A storm"


def test_only_h1_is_preferred_to_titles_for_search_engines():
    assert headline("", ["A storm"], "10 facts about storms", "10 facts about storms", [], URL) == "A storm"


@pytest.mark.parametrize("heading", ["Details", "...", "News", "Politik", "新闻"])
def test_only_h1_that_says_something_else_does_not_outvote_titles_that_agree(heading):
    assert headline("", [heading], "A storm in May", "A storm in May | Daily", ["Daily"], URL) == "A storm in May"
    assert headline("", [heading], "台风登陆福建", "台风登陆福建_晚报", ["晚报"], URL) == "台风登陆福建"


def test_only_h1_counts_if_the_other_titles_do_not_agree_or_share_its_words():
    assert headline("", ["Details"], "Daily news", "A storm in May", [], URL) == "Details"
    assert headline("", ["The storm"], "All on storms", "All on storms", [], URL) == "The storm"
    assert headline("", ["台风来了"], "今天的台风消息", "今天的台风消息", [], URL) == "台风来了"


def test_kicker_in_the_h1_is_removed_if_another_copy_of_the_title_lacks_it():
    assert headline("", ["Weather A storm in the month of May"], "A storm in the month of May", "", [], URL) == (
        "A storm in the month of May"
    )


def test_punctuation_is_taken_from_machine_readable_copies():
    assert headline("Weather: a storm", ["Weather a storm"], "", "", [], URL) == "Weather: a storm"


def test_title_that_is_also_the_name_of_the_site_is_kept():
    assert headline("", ["A storm"], "A storm", "A storm", ["A storm"], URL) == "A storm"


def test_without_words_there_is_no_title():
    assert headline("", [], "", "", [], URL) == ""
    assert headline("", [" "], "\n", "", ["x"], "no url") == ""
