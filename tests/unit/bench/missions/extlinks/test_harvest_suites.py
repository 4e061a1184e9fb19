"""Simulated harvests of real pages: reading files, the orders, the bounds, and the prior."""

import pytest

from bench.harvest.link_prior import examples, weights
from bench.harvest.simulation import Web, best_pages, harvest
from bench.harvest.site_pages import MOVED, READ, REFUSED, read_site, store
from bench.harvest.suites import bounds, run, suites
from crawlers.bandits.turns import Sequential
from crawlers.lab.order_replay import LevelByLevel
from crawlers.ranking.link_features import FEATURES

HOME = """<body><nav id="n1"><ul class="menu"><li class="item"><a href="list.htm">A list</a></ul></nav>
<p><a href="more/">More</a> <a href="missing.html">Missing</a> <a href="http://x.test/1">x</a> <a href="/">Home</a>"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    root = tmp_path_factory.mktemp("files")
    pages = {"start.html": HOME, "list.html": links(2, 3, 4), "more/index.html": links(1, 2) + "<a href=deep.html>"}
    pages["more/deep.html"] = links(4, 5, 6, 7)
    for name, body in pages.items():
        (root / "a" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "a" / name).write_text(body)
    return read_site(root, {"site": "a", "start": "/start.html", "quirks": ["redirhtml"]})


def links(*numbers):
    return "".join(f"<a href=http://x.test/{number}>x</a>" for number in numbers)


def named(site, order, *described):
    """The paths of the pages in the order in which they are read, with their rewards."""
    read = []

    class Recorded:
        def pop(self):
            read.append(order.pop())
            return read[-1]

        def __getattr__(self, name):
            return getattr(order, name)

        def __len__(self):
            return len(order)

    rewards = harvest(Web([site]), Sequential(), [Recorded()], 100, *described)
    return [
        (site.urls[page.page].removeprefix("http://a.test:8600"), reward)
        for page, reward in zip(read, rewards, strict=True)
    ]


def test_site_is_read_as_its_server_would_answer(site):
    paths = [url.removeprefix("http://a.test:8600") for url in site.urls]
    assert dict(zip(paths, site.kinds, strict=True)) == {
        "/": MOVED,
        "/start.html": READ,
        "/list.htm": MOVED,
        "/more/": READ,
        "/missing.html": REFUSED,
        "/list.html": READ,
        "/more/deep.html": READ,
    }
    first = site.links(paths.index("/start.html"))[0]
    texts = [site.texts[one[first]] for one in (site.positions, site.paths, site.anchors)]
    assert texts == ["ul/li.item", "nav#n0/ul.menu/li.item", "A list"]


def test_breadth_first_harvest_earns_each_link_once(site):
    assert named(site, LevelByLevel()) == [
        ("/", 0),
        ("/start.html", 1),
        ("/list.htm", 0),
        ("/more/", 1),
        ("/missing.html", 0),
        ("/list.html", 2),
        ("/more/deep.html", 3),
    ]


def test_best_pages_are_those_with_the_most_links_that_none_before_has(site):
    assert best_pages(site) == [4, 2, 1]


def test_suites_are_simulated_from_the_cache(site, tmp_path):
    for number in range(13):
        store(tmp_path, f"s{number}", site)
    made = suites(tmp_path, ["s0", "s1"], count=1, seed=1)
    assert [suite.name for suite in made] == ["fixed", "fixed, shuffled", "random 1", "random 1, shuffled"]
    assert [len(suite.sites) for suite in made] == [2, 2, 12, 12]
    most, best = bounds(tmp_path, made[0])
    assert (most[2000], best[2000]) == (14, 14)
    assert best[1] == 4
    assert run(tmp_path, made[0], "best", "found")[:6] == [0, 0, 1, 1, 4, 1]
    for order in ("bfs", "learnt", "cold", "found"):
        assert sum(run(tmp_path, made[0], "auto", order)) == 14


def test_prior_has_words_that_several_sites_share(site):
    found = examples(site)
    kinds = {kind for names, _ in found for kind, _ in names}
    assert kinds <= {feature.kind for feature in FEATURES if not feature.is_of_site}
    assert weights([found] * 2) == {}
    three = weights([found] * 3, most=4)
    assert len(three) == 4
    assert three[("url", "missi")] < 0 < three[("url", "deep")]
