"""`scrapy lab learn` makes a file with which a crawl begins.

What stored crawls teach of links.
"""

import math
import re
from functools import partial

import pytest

from crawlers.errors import ConfigError
from crawlers.inputs.link_prior_file import read_link_prior
from crawlers.lab.learn import LinkExamples, names_of
from crawlers.ranking.link_features import feature_id
from crawlers.store.database import Database
from tests.support.stored_links import LinkedPage, store_harvest

PAGES = [
    *(LinkedPage(f"/news/{n}.html", 9.0, "Latest news") for n in range(20)),
    *(LinkedPage(f"/manual/{n}.html", 0.0, "Next chapter") for n in range(20)),
]
SITES = [f"http://s{n}.test" for n in range(6)]


@pytest.fixture
def learn(project, lab):
    return partial(lab, project, "learn")


def store(database, sites, **options):
    store_harvest(database, dict.fromkeys(sites, PAGES), **options)


def test_file_of_a_store_is_one_with_which_a_crawl_begins(learn, database):
    store(database, SITES)
    lines = learn().splitlines()
    assert lines[0] == "1 crawl, 6 sites: 240 pages, of which 240 are learnt from"
    assert lines[1] == "factors by which features of links change the reward that is expected"
    assert lines[3].split()[1:] in (["anchor", "lates"], ["anchor", "news"], ["url", "news"])
    assert float(lines[3].split()[0]) > 1.1 > 0.9 > float(lines[-3].split()[0])
    assert lines[-2].startswith("of the differences between pages of a site, weights from other sites explain 100.0%")
    assert lines[-1] == "link-weights.json: 8 weights, for crawls with ORDER=learnt: -s LINK_PRIOR=link-weights.json"
    weights = read_link_prior("link-weights.json")
    assert weights.keys() == {"anchor", "anchor length", "level", "url"}
    assert weights["anchor"].keys() == {"lates", "news", "next", "chapt"}
    assert weights["url"]["news"] > 0.2 > -0.2 > weights["url"]["manua"]


def test_file_is_replaced_only_if_the_command_names_it(learn, database, tmp_path):
    store(database, SITES)
    learn()
    file = tmp_path / "link-weights.json"
    weights = file.read_bytes()
    file.write_text("{}")
    sentence = "link-weights.json exists; name it to replace it: --out link-weights.json, or name another file"
    with pytest.raises(ConfigError, match=f"^{sentence}$"):
        learn()
    assert file.read_text() == "{}"
    learn("--out", "link-weights.json")
    assert file.read_bytes() == weights


@pytest.mark.parametrize("sites", [1, 2])
def test_pages_of_one_or_two_sites_are_too_few(learn, database, sites):
    store(database, SITES[:sites])
    with pytest.raises(ConfigError, match=rf"^pages of {sites} sites? were read, but weights need 3: words on fewer"):
        learn()


def test_errors_are_reported_in_one_sentence(learn, database, tmp_path):
    store(database, SITES[:1], name="first")
    store(database, SITES[:1], name="graph", mission="sitegraph")
    store(database, SITES[:1], name="hosts", reward="new_hosts")
    Database(f"sqlite:///{tmp_path}/empty.sqlite").close()
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.txt").write_text("text" * 500)
    for names, sentence in {
        "graph": "crawl graph (number 2, finished) is no crawl of a mission that counts new links; run scrapy",
        "gone.sqlite": "gone.sqlite is neither a crawl nor a file: CRAWL=gone.sqlite: ",
        "sqlite:///gone.sqlite": "gone.sqlite does not exist",
        "folder": "folder is neither a crawl nor a file: ",
        "text.txt": "is not an SQLite database",
        "empty.sqlite": "has no crawl of a mission that counts new links",
        "first hosts": "crawl hosts (number 3, finished) has REWARD=new_hosts; name those with one",
    }.items():
        with pytest.raises(ConfigError, match=re.escape(sentence)):
            learn(*names.split())


A, B = "http://a.test", "http://b.test"
NEWS = LinkedPage("/misc/news.html", 7.0, "All the news")


def number(kind, text):
    return kind, feature_id(kind, "", text)


def names(database, examples, crawl_id):
    """The examples of each site with names."""
    wanted = {name for site in examples.sites() for found, _ in site for name in found}
    known = names_of(database, crawl_id, wanted)
    return [[({known.get(name) for name in found}, reward) for found, reward in site] for site in examples.sites()]


def test_links_have_their_words_level_and_length_but_home_pages_have_none(database):
    examples = LinkExamples(10)
    crawl_id = store_harvest(database, {A: [NEWS]})
    assert examples.add(database, crawl_id)
    assert examples.pages == 1
    [(found, reward)] = examples.sites()[0]
    words = [("anchor", "all"), ("anchor", "news"), ("url", "news"), ("url", "misc")]
    expected = {number(*one) for one in (*words, ("anchor length", "2 to 3 words"), ("level", "1"))}
    assert (set(found), reward) == (expected, 7.0)


@pytest.mark.parametrize("order", ["bfs", "topic"])
def test_crawl_in_another_order_teaches_words_of_urls_and_levels(database, order):
    examples = LinkExamples(10)
    crawl_id = store_harvest(database, {A: [NEWS]}, order=order)
    assert not examples.add(database, crawl_id)
    assert set(examples.sites()[0][0][0]) == {number("url", "news"), number("url", "misc"), number("level", "1")}
    assert names(database, examples, crawl_id) == [[({"news", "misc", "1"}, 7.0)]]


def test_pages_of_a_site_are_a_random_sample_and_always_the_same(database):
    web = {A: [LinkedPage(f"/p/{n}", float(n)) for n in range(300)], B: [NEWS]}
    crawl_id = store_harvest(database, web)

    def rewards(most):
        examples = LinkExamples(most)
        examples.add(database, crawl_id)
        assert examples.pages == 301
        return [[reward for _, reward in site] for site in examples.sites()]

    chosen, other = rewards(40)
    assert (len(chosen), len(set(chosen)), other) == (40, 40, [7.0])
    assert rewards(40) == [chosen, other]
    assert abs(sum(chosen) / 40 - 149.5) < 4 * 86.6 / math.sqrt(40)


@pytest.mark.both_stores
def test_names_are_words_of_titles_and_urls(database):
    crawl_id = store_harvest(database, {A: [LinkedPage("/MiscThings/%D0%B4%D0%BE%D0%BC", 1.0, "Release_notes 5")]})
    texts = [("anchor", "relea"), ("url", "notes"), ("url", "misc"), ("anchor", "дом"), ("level", "8")]
    wanted = {number(*one) for one in (*texts, ("anchor", "elsew"), ("anchor length", "1 word"))}
    found = names_of(database, crawl_id, wanted)
    assert found == {number(*one): one[1] for one in (*texts, ("anchor length", "1 word"))}
