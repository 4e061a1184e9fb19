"""A full disk stops the crawl with one sentence; with free space it is resumed without a difference in its results."""

import resource

import pytest

from tests.support.running import add_on, differences

SMALL = {"STORE_BATCH_SECONDS": 0.02}


def limit_files():
    """Simulates a full disk by a limit of the operating system."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))


@pytest.mark.parametrize(
    "limits",
    [
        {"before": limit_files, **SMALL},
        # Numbers of pages are reserved in a transaction of their own, by the engine's thread.
        {"ADDONS": add_on("FullWhenNumbersAreReserved"), "FULL_AT_RESERVATION": 5, **SMALL},
    ],
)
def test_a_full_disk_stops_the_crawl_which_resumes_with_free_space(web, crawl_in, undisturbed, limits):
    crawl = crawl_in("full", web.hosts("library", "mirror"))
    ended = crawl.run(**limits)
    assert ended.status == 1
    assert len(ended.errors) == 1
    assert "free some space" in ended.errors[0]
    assert "Traceback" not in ended.log
    assert 0 < crawl.stored < undisturbed.stored
    assert crawl.waiting > 0

    assert crawl.run().status == 0
    assert crawl.states == ["finished"]
    assert differences(undisturbed.tables(), crawl.tables()) == []
    assert crawl.files() == undisturbed.files()


def test_a_crawl_without_space_for_its_graphs_is_not_finished(web, crawl_in, undisturbed):
    crawl = crawl_in("full", web.hosts("library", "mirror"))
    ended = crawl.run(ADDONS=add_on("NoRoomForGraphs"))
    assert ended.status == 1
    assert len(ended.errors) == 1
    assert "free some space" in ended.errors[0]
    assert "Traceback" not in ended.log
    assert crawl.waiting == 0
    assert crawl.states != ["finished"]

    web.counts.clear()
    assert crawl.run().status == 0
    assert web.requests == 0
    assert crawl.states == ["finished"]
    assert crawl.files() == undisturbed.files()
