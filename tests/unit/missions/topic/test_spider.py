"""A topic crawl over three small sites: which pages come in which order, what is known of them, where it goes."""

import json
from math import log, sqrt

import pytest

from crawlers.items import State
from tests.support.running import Project
from tests.support.sites.server import Web, pages

ONE = {"SITE_DELAY_SECONDS": 0, "CONCURRENT_REQUESTS": 1, "RETRY_TIMES": 0, "ROBOTSTXT_OBEY": 0}
TERMS = "SELECT p.url, t.similarity, t.terms FROM topic_page t JOIN page p ON p.id = t.page_id"


def page(title, **links):
    """A page whose links stand in paragraphs of their own, so that their context is their text."""
    return f"<title>{title}</title>" + "".join(f'<p><a href="{href}">{text}</a></p>' for text, href in links.items())


class ThreeSites:
    """The web of the tests: a's home page is a root, and so is c's; b is found on the way."""

    def __init__(self):
        self.web = Web(a=self.site("a"), b=self.site("b"), c=self.site("c"))

    def site(self, name):
        async def respond(exchange):
            await pages(self.bodies[name])(exchange)

        return respond

    def __enter__(self):
        self.web.__enter__()
        b, c = self.web["b"].origin, self.web["c"].origin
        self.bodies = {
            "a": {
                "/": page("Start", **{"unicode": "/u", "kitchen": "/k", "unicode tables": f"{b}/m"}),
                "/u": page("Unicode", **{"unicode history text": "/far", "kitchen": f"{c}/"}),
                "/k": page("Kitchen", kitchen=f"{b}/pop"),
                "/far": page("Far, unicode unicode"),
            },
            "b": {
                "/m": page("Maps", **{"kitchen": "/pop", "unicode": f"{c}/deep"}),
                "/pop": page("Popular"),
            },
            "c": {
                "/": page("Cooks", kitchen=f"{b}/pop"),
                "/deep": page("Deep unicode", **{"unicode text": "/end"}),
                "/end": page("End"),
            },
        }
        return self

    def __exit__(self, *exit_):
        self.web.__exit__(*exit_)

    @property
    def order(self):
        """What was asked for on all sites, in order: `a/` is a's home page."""
        asked = [(one.at_s, name + one.path) for name, site in self.web.sites.items() for one in site.requests]
        return [path for _, path in sorted(asked)]

    def path(self, url):
        """A URL as `order` has it."""
        names = {site.origin: name for name, site in self.web.sites.items()}
        return next(name + url.removeprefix(origin) for origin, name in names.items() if url.startswith(origin))


@pytest.fixture
def three():
    with ThreeSites() as served:
        yield served


@pytest.fixture
def crawl(tmp_path, three):
    """Crawls with a topic.yaml of these fields; roots are the home pages of a and c unless they are given."""
    project = Project(tmp_path, **ONE)

    def run(*arguments, status=0, settings=(), **fields):
        roots = [f"{three.web['a'].origin}/", f"{three.web['c'].origin}/"]
        topic = {"keywords": ["unicode"], "roots": roots, "scope": ["127.0.0.1"], "strategy": "mixed", **fields}
        topic = {name: value for name, value in topic.items() if value is not None}
        (tmp_path / "topic.yaml").write_text(json.dumps(topic), "utf-8")  # JSON is YAML
        ended = project.run("crawl", "topic", "-a", "topic=topic.yaml", *arguments, **dict(settings))
        assert ended.status == status, ended.log
        assert "Traceback" not in ended.log
        return ended

    run.project = project
    return run


# The order ------------------------------------------------------------------------------------------

# By hand. R_a is 1 of a link "unicode", 1/sqrt(2) with another word, 1/sqrt(3) with two, 0 of "kitchen". R_d is 1 of
# the roots a/ and c/, 1/2 of what a root links to, and so on. TR doubles and adds up: after a/ (TR 1), a/u, a/k and
# b/m have 2. Between sites of equal scores that with fewer pages read comes first, then that which was known first:
# a, c, b. Within a site, what was found first.
ORDERS = {
    # a/ and c/ have no link to them, so 0 as all "kitchen" has; then 1, 1/sqrt(2), and by b/m: 1.
    # Of the last three, which score 0, b has 1 page read so far, c has 2, a has 3.
    "anchor": "a/ a/u b/m c/deep c/end a/far b/pop c/ a/k",
    # Level 1 is a/u, a/k, b/m, and since c/ links there, b/pop. Level 2 is a/far and c/deep, level 3 is c/end.
    "breadth": "a/ c/ b/m a/u b/pop a/k c/deep a/far c/end",
    # b/m (2, on the site without pages read) gives 3 to b/pop and c/deep; c/deep 4 to c/end. a/u gives 3 to a/far and
    # to c/ (1 until then).
    "links": "a/ b/m c/deep c/end b/pop a/u a/far c/ a/k",
    # After a/: a/u 0.4 + 0.3/2 + 0.3, b/m 0.4/sqrt(2) + 0.45. After a/u: a/far 0.4/sqrt(3) + 0.1 + 0.3, c/ 0.3 + 0.3.
    # After b/m: c/deep 0.4 + 0.1 + 0.3; after that c/end 0.4/sqrt(2) + 0.3/4 + 0.3, while the share of TR falls to
    # ln 4/ln 5 for a/far (0.589), c/ (0.558) and b/pop (0.358), and to ln 3/ln 5 for a/k (0.355).
    "mixed": "a/ a/u b/m c/deep c/end a/far c/ b/pop a/k",
}


@pytest.mark.parametrize("strategy", ORDERS)
def test_pages_come_in_the_order_that_a_computation_by_hand_says(three, crawl, strategy):
    crawl(strategy=strategy)
    assert three.order == ORDERS[strategy].split()


# What is known of the pages -------------------------------------------------------------------------


def test_similarities_are_those_of_all_pages_read(three, crawl):
    crawl()
    # The keyword is the stem "unicod", which 5 of the 9 pages have, as title or in a link.
    found = {three.path(url): (similarity, json.loads(terms)) for url, similarity, terms in crawl.project.query(TERMS)}
    assert len(found) == 9
    having = sorted(path for path, (_, terms) in found.items() if "unicod" in terms)
    assert having == ["a/", "a/far", "a/u", "b/m", "c/deep"]
    idf = 1 + log(9 / 5)
    # a/far: "far" once, on this page only; "unicod" twice.
    assert found["a/far"][1] == {"far": 1, "unicod": 2}
    vector = {"far": 1 + log(9 / 1), "unicod": 2 * idf}
    cosine = vector["unicod"] / sqrt(vector["far"] ** 2 + vector["unicod"] ** 2)
    assert found["a/far"][0] == pytest.approx(cosine, abs=1e-12)
    assert found["c/end"][0] == found["a/k"][0] == 0.0


def test_feeds_have_a_line_a_page_with_its_similarity(three, crawl, tmp_path):
    three.bodies["a"].pop("/far")
    crawl("-O", "pages.jsonl", "-O", "pages.csv")
    lines = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text("utf-8").splitlines()]
    assert [three.path(line["url"]) for line in lines] == ORDERS["mixed"].split()
    assert list(lines[0]) == ["url", "title", "similarity", "level", "state", "status", "reason"]
    by_path = {three.path(line["url"]): line for line in lines}
    deep = by_path["c/deep"]
    assert (deep["title"], deep["level"], deep["state"], deep["status"], deep["reason"]) == (
        "Deep unicode", 2, "done", 200, "",
    )  # fmt: skip
    assert 0.5 < deep["similarity"] < 1.0
    far = by_path["a/far"]
    assert (far["similarity"], far["state"], far["status"], far["reason"]) == (None, "refused", 404, "status 404")
    rows = crawl.project.table("pages.csv")
    assert [row["url"] for row in rows] == [line["url"] for line in lines]
    assert [row["state"] for row in rows] == [line["state"] for line in lines]
    assert float(rows[3]["similarity"]) == lines[3]["similarity"]
    assert rows[5]["reason"] == "status 404"


CHINESE = {
    "/": '<meta charset="gb18030"><p><a href="/soup">红烧牛肉</a></p><p><a href="/utf">字符编码</a></p>',
    "/soup": '<meta charset="gb18030"><title>牛肉</title><p>牛肉的做法',
    "/utf": '<meta charset="gb18030"><title>字符编码</title><p>文本的字符编码和字符集',
}


def test_chinese_pages_are_understood(tmp_path):
    project = Project(tmp_path, **ONE)
    with Web(site=pages({path: body.encode("gb18030") for path, body in CHINESE.items()})) as web:
        origin = web["site"].origin
        topic = {"keywords": ["字符编码"], "roots": [origin], "strategy": "anchor"}
        (tmp_path / "topic.yaml").write_text(json.dumps(topic, ensure_ascii=False), "utf-8")
        project.run("crawl", "topic", "-a", "topic=topic.yaml").done()
        assert web["site"].paths == ["/", "/utf", "/soup"]
    similarities = {url.removeprefix(origin): similarity for url, similarity, _ in project.query(TERMS)}
    assert similarities["/utf"] > 0.4
    assert similarities["/soup"] == 0.0


# Where it goes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "cross_site_links"),
    [("sites", ""), (["127.0.0.1"], "b/m b/pop c/ c/deep c/end"), ("all", "b/m b/pop c/ c/deep c/end")],
)
def test_scope_of_the_file_says_where_the_crawl_goes(three, crawl, scope, cross_site_links):
    crawl(scope=scope, roots=[three.web["a"].origin])
    assert set(three.order) == {"a/", "a/u", "a/far", "a/k", *cross_site_links.split()}
    outside = {three.path(url) for (url,) in crawl.project.query("SELECT url FROM external_url")}
    assert outside == (set() if cross_site_links else {"b/m", "b/pop", "c/"})


# How long it goes -----------------------------------------------------------------------------------


def test_budget_of_the_file_ends_the_crawl_and_that_of_the_settings_overrides_it(three, crawl):
    crawl(budget=3)
    assert three.order == ORDERS["mixed"].split()[:3]
    assert crawl.project.outcomes == [("interrupted", "page_budget")]
    crawl(budget=3, settings={"PAGE_BUDGET": 5})
    assert three.order == ORDERS["mixed"].split()[:5]
    crawl(budget=9)
    assert three.order == ORDERS["mixed"].split()


def test_topic_of_an_unfinished_crawl_cannot_change(three, crawl):
    crawl(budget=2)
    before = crawl.project.query("SELECT name, value FROM crawler_setting ORDER BY name")
    other, strategy = "the keywords, examples or language of the topic changed", "mixed"
    for changed, today, began in (
        ({"keywords": ["unicode", "text"]}, other, "another topic"),
        ({"strategy": None, "alpha": 0.5, "beta": 0.3, "gamma": 0.2}, "the strategy is 0.5, 0.3, 0.2, 0", strategy),
        ({"language": "en"}, other, "another topic"),
        ({"strategy": "anchor"}, "the strategy is anchor", strategy),
    ):
        (error,) = crawl(**{"budget": 9, **changed}, status=2).errors
        assert error.startswith(f"Error: {today}: the unfinished crawl topic began with {began}; give the same")
        assert "begin another crawl: -s CRAWL=another" in error
    assert len(three.order) == 2
    assert crawl.project.query("SELECT name, value FROM crawler_setting ORDER BY name") == before
    crawl(strategy="links", budget=2, settings={"CRAWL": "another"})
    assert three.order[2:] == ORDERS["links"].split()[:2]


# Examples -------------------------------------------------------------------------------------------


def test_examples_may_be_files_and_urls(three, crawl, tmp_path):
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "about.html").write_text("<title>Unicode</title>", "utf-8")
    three.bodies["b"]["/about"] = "<title>Unicode text</title>"
    address = f"{three.web['b'].origin}/about"
    crawl(keywords=["kitchen"], examples=["examples/about.html", address], budget=2)
    assert three.order == ["b/about", "a/", "a/k"]
    stored = crawl.project.query("SELECT value FROM crawler_setting WHERE name = 'TOPIC_TERMS'")
    terms = json.loads(stored[0][0])
    # Keywords and examples have as much say; of the examples' two terms, one is on both pages.
    unicode, text = 1 + 1 / sqrt(2), 1 / sqrt(2)
    shares = sqrt(unicode**2 + text**2)
    assert terms == pytest.approx(
        {"kitchen": 1 / sqrt(2), "unicod": unicode / shares / sqrt(2), "text": text / shares / sqrt(2)}, abs=1e-12
    )
    crawl(keywords=["kitchen"], examples=["examples/about.html", address], budget=3)
    assert three.order == ["b/about", "a/", "a/k", "b/pop"], "an example is read once a crawl"


@pytest.mark.parametrize("is_mended", [True, False])
def test_example_that_cannot_be_had_ends_the_crawl_until_it_is_mended_or_left_out(three, crawl, tmp_path, is_mended):
    address = f"{three.web['b'].origin}/nowhere"
    ended = crawl(examples=[address], status=1)
    assert ended.errors == [
        f"Error: the example {address} of the topic can't be read: status 404; correct or remove it"
    ]
    assert three.order == ["b/nowhere"]
    assert not (tmp_path / "result").exists()
    assert crawl.project.outcomes == [("interrupted", "no_topic")]
    assert set(crawl.project.query("SELECT state FROM page")) == {(State.WAITING,)}
    if is_mended:
        three.bodies["b"]["/nowhere"] = "<title>Unicode</title>"
        crawl(examples=[address])
        assert three.order[1:] == ["b/nowhere", *ORDERS["mixed"].split()]
    else:
        crawl()
        assert three.order[1:] == ORDERS["mixed"].split()
    assert crawl.project.outcomes == [("finished", "finished")]
