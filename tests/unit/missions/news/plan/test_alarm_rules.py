"""An alarm is raised when a problem lasts too long for its source; time without a running crawl does not count."""

import pytest

from crawlers.missions.news.plan.alarm_rules import (
    DAY_S,
    DEAD_FEED,
    DISCOVERY,
    EXTRACTION,
    SILENT,
    UNREACHABLE,
    Failing,
    Limits,
    Pause,
    SiteHealth,
    alarms_of,
)

NOW = 1000 * DAY_S
HOUR = 3600.0
DAILY = tuple(NOW - n * DAY_S / 5 for n in range(1, 20))  # five a day, the last one some hours ago


def kinds(*, feeds=(), sites=(), now=NOW, pause=None):
    return [alarm.kind for alarm in alarms_of(feeds, sites, Limits(), now, pause or Pause())]


def shifted(times, seconds):
    return tuple(time - seconds for time in times)


@pytest.mark.parametrize("kind", [DEAD_FEED, UNREACHABLE])
@pytest.mark.parametrize(("hours", "is_failing"), [(23, False), (24, True), (1000, True)])
def test_feed_is_dead_and_source_unreachable_after_a_day(kind, hours, is_failing):
    failing = Failing("http://a.example/rss", NOW - hours * HOUR, "status 404", kind)
    assert kinds(feeds=[failing]) == [kind] * is_failing


@pytest.mark.parametrize(("days", "said"), [(4, "4 days"), (3587.2, "3,587 days")])
def test_silence_is_said_in_days(days, said):
    (alarm,) = alarms_of([], [SiteHealth("http://a.example", shifted(DAILY, days * DAY_S))], Limits(), NOW, Pause())
    assert alarm.kind == SILENT
    assert alarm.message.startswith(f"no new article for {said}; ")


def test_time_while_the_crawl_was_stopped_does_not_count():
    feed = Failing("http://a.example/rss", NOW - 30 * HOUR, "")
    assert kinds(feeds=[feed], pause=Pause(NOW - 29 * HOUR, NOW - 10 * HOUR)) == []
    assert kinds(feeds=[feed], pause=Pause(NOW - 90 * HOUR, NOW - 29 * HOUR)) == [DEAD_FEED]
    silent = SiteHealth("http://a.example", shifted(DAILY, 4 * DAY_S))
    assert kinds(sites=[silent]) == [SILENT]
    assert kinds(sites=[silent], pause=Pause(NOW - 4 * DAY_S, NOW - 60.0)) == []


@pytest.mark.parametrize(
    ("published", "found"),
    [
        (DAILY, []),
        (shifted(DAILY, 2 * DAY_S), []),
        (shifted(DAILY, 3 * DAY_S), [SILENT]),
        (shifted(DAILY[:4], 30 * DAY_S), []),  # too few documents for a usual interval
        (
            tuple(NOW - n * 7 * DAY_S for n in range(9, 20)),
            [],
        ),  # a weekly paper: nine weeks are less than ten intervals
        (tuple(NOW - n * 7 * DAY_S for n in range(11, 20)), [SILENT]),
    ],
)
def test_source_is_silent_after_ten_times_its_usual_interval(published, found):
    assert kinds(sites=[SiteHealth("http://a.example", published)]) == found


@pytest.mark.parametrize(
    ("failed", "stored", "found"),
    [(20, 0, [EXTRACTION]), (19, 0, []), (81, 19, [EXTRACTION]), (80, 20, []), (0, 0, []), (10, 9, [])],
)
def test_extraction_fails_if_few_of_many_pages_become_documents(failed, stored, found):
    assert kinds(sites=[SiteHealth("http://a.example", (), failed, "no_text", stored)]) == found


@pytest.mark.parametrize(
    ("discovered_h", "answered_h", "found"),
    [(47, 1, []), (48, 1, [DISCOVERY]), (48, 25, []), (48, None, []), (None, 1, [])],
)
def test_discovery_alarm_if_a_site_responds_without_anything_new(discovered_h, answered_h, found):
    times = [None if hours is None else NOW - hours * HOUR for hours in (discovered_h, answered_h)]
    assert kinds(sites=[SiteHealth("http://a.example", DAILY, 0, "", 5, *times)]) == found
