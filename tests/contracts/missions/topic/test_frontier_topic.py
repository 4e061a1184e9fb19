"""Sites and pages of a topic crawl are chosen by what their links promise, as the crawl learns."""

from tests.contracts.learning_crawls import LearntSite
from tests.contracts.site import NOW
from tests.support.missions.topic.for_core import LEARNING

TOPIC = LEARNING["topic"]


def test_site_is_chosen_by_what_its_links_promise_now(engine):
    """The value of a site that was not read for a while changes with what is learnt on others."""
    one = LearntSite(engine, TOPIC)
    other = LearntSite(engine, TOPIC, one.frontier)
    one.begin("/rich/9", *(f"/poor/{n}" for n in range(9)))
    other.begin(*(f"/{folder}/{n}" for folder in ("poor", "rich") for n in range(3)))
    read = []
    for _ in range(9):
        (lease,) = one.frontier.lease(NOW, 1)
        read.append((lease.site_id, lease.url.partition(".test")[2]))
        its = one if lease.site_id == one.id else other
        its.read(lease, reward=0.9 if "rich" in lease.url else 0.001)
    assert read[0] == (one.id, "/rich/9")
    assert {(other.id, f"/rich/{n}") for n in range(3)} <= set(read[:6])


def test_url_whose_relevance_rises_comes_into_memory(engine):
    site = LearntSite(engine, TOPIC, worth={"unicode": 0.5})
    site.frontier._learning.compared = 2
    site.begin(*(f"/a/{n}" for n in range(20)))
    site.worth["/a/19"] = 0.9
    site.read(site.one(), "/a/19")
    assert site.paths([site.one()]) == ["/a/19"]
