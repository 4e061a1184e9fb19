"""The result is a function of the web, not of the timing: one download at a time or 32, in any order."""

import csv
import zlib

from tests.support.running import differences

MEASURES = "pagerank,hub,authority,component,component_size"
FORMATS = {
    "GRAPH_FORMATS": "gexf,graphml,csv",
    "GRAPH_MEASURES": MEASURES,
    "LINK_TAGS": "a,area,frame,iframe,meta",
}
TABLES = (".pages.csv", ".broken-links.csv", ".redirects.csv", ".external-links.csv")
ENDINGS = (".gexf", ".graphml", ".nodes.csv", ".edges.csv", *TABLES)
LONGEST_PAUSE_S = 0.03


def shuffled(url):
    """Return delays that change the order of responses."""
    return zlib.crc32(url.encode()) / (1 << 32) * LONGEST_PAUSE_S


def test_results_do_not_depend_on_concurrency_on_the_order_of_responses_or_on_caches(everything, crawl_in):
    crawls = []
    for parallel, cached in ((1, 2_000_000), (32, 50)):
        everything.pace = shuffled if parallel > 1 else lambda url: 0.0
        hosts = everything.hosts(parallel=parallel)
        settings = {"CONCURRENT_REQUESTS": parallel, "FRONTIER_CACHE_URLS": cached, "RETRY_BACKOFF_SECONDS": 0.01}
        crawl = crawl_in(f"{parallel}", hosts, **settings, **FORMATS)
        assert crawl.run(is_fresh=True).status == 0
        assert crawl.states == ["finished"]
        crawls.append(crawl)
    one, other = crawls

    assert len(one.files()) == (len(everything.origins) - 1) * len(ENDINGS)  # none of the dead site
    assert {name[name.index(".", 12) :] for name in one.files()} == set(ENDINGS)
    assert other.files() == one.files()
    (header, *_), *_ = (text.splitlines() for name, text in one.files().items() if name.endswith(".nodes.csv"))
    assert set(MEASURES.split(",")) <= set(header.decode().split(","))
    # The limits of the hosts file are rows too.
    tables = [{name: rows for name, rows in crawl.tables().items() if name != "site"} for crawl in crawls]
    assert differences(*tables) == []
    # Not vacuously: the pages came in another order.
    orders = [tuple(url for (url,) in c.query("SELECT url FROM page ORDER BY fetched_at")) for c in crawls]
    assert orders[0] != orders[1]


def test_graphs_of_sites_do_not_depend_on_the_page_order(everything, crawl_in):
    everything.pace = lambda url: 0.0
    hosts = everything.hosts("library", "mirror", "corner")
    graphs, nodes, read = [], [], []
    for order in ("bfs", "opic", "aopic-random"):
        keeps = order != "opic"
        crawl = crawl_in(order, hosts, ORDER=order, SAVE_DUPLICATES=keeps, RETRY_BACKOFF_SECONDS=0.01, **FORMATS)
        assert crawl.run().status == 0
        assert crawl.states == ["finished"]
        variants = everything.origins["mirror"].removeprefix("http://").replace(":", "_")
        files = {name: content for name, content in crawl.files().items() if name.endswith(ENDINGS[:4])}
        graphs.append({name: content for name, content in files.items() if not name.startswith(variants)})
        # Of the variants of a URL, the best one of those found before the request is requested, so that labels differ.
        rows = csv.reader(files[f"{variants}.nodes.csv"].decode().splitlines())
        nodes.append(sorted(row[2:] for row in rows))
        read.append(tuple(url for (url,) in crawl.query("SELECT url FROM page ORDER BY fetched_at")))
    assert len(graphs[0]) == 8
    assert graphs == graphs[:1] * 3
    assert nodes == nodes[:1] * 3
    assert len(set(read)) == 3, "the pages were read in other orders"
