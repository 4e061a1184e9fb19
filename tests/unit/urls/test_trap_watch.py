"""Endless parts of simulated sites are cut, other parts never, in any order within a level.

URLs that grow in a loop are recognised, and similar URLs have one pattern.
"""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.urls import trap_watch
from crawlers.urls.trap_watch import (
    TrapWatch,
    broad_patterns,
    content_signature,
    loop_of,
    reason_of_loop,
    shape_reason,
    url_pattern,
)
from tests.support.endless_sites import (
    MENU,
    Added,
    Calendar,
    Dates,
    Filters,
    Folders,
    Listing,
    Prices,
    Sessions,
    last_name,
    path_text,
    rich_text,
    word_of,
)


@pytest.fixture(autouse=True)
def _suspicion_is_enough(request, monkeypatch):
    """Cut a part as soon as it is suspect, but in tests of the evidence that this takes."""
    if "full_evidence" not in request.fixturenames:
        monkeypatch.setattr(trap_watch, "MIN_REPEATS", 1)


@pytest.fixture
def full_evidence():
    """Leave the evidence that a cut takes as it is."""


def letters(number, zero="а"):
    """Return a word for a number; *zero* stands for 0."""
    return "".join(chr(ord(zero) + int(digit)) for digit in str(number))


def crawl(site, watch, most=5_000, rng=None):
    """Fetch breadth first; return (url, level, content signature) of the pages, and the reasons of the cuts by URL."""
    seen, level, number, pages, cuts = {site.start()}, [site.start()], 0, [], {}
    while level and len(pages) < most:
        if rng:
            rng.shuffle(level)
        following = []
        fetched = []
        for url in level:
            reason = watch.verdict(url, number)
            if reason:
                cuts[url] = reason
                continue
            text, links = site.fetch(url)
            fetched.append((url, number, content_signature(text, [url, *links])))
            following += [link for link in links if not (link in seen or seen.add(link))]
        for page in fetched:
            watch.observe(*page)
        pages += fetched
        level, number = following, number + 1
    return pages, cuts


@pytest.mark.parametrize("width", [1, 3, 50, 29_999])
def test_listing_of_thirty_thousand_texts_is_never_cut(width):
    pages, cuts = crawl(Listing(30_000 if width > 1 else 3_000, width), TrapWatch(), most=40_000)
    assert (len(pages), cuts) == (30_000 if width > 1 else 3_000, {})


def test_many_small_traps_of_one_script_are_cut_without_its_rich_part():
    watch = TrapWatch()
    words = [letters(number, "g") for number in range(10, 30)]
    for level in (1, 2):
        for number in range(20):
            for word in words:
                watch.observe(f"http://h/x?page={word}&id={number}", level, content_signature(word))
            watch.observe(f"http://h/x?page=news&id={number}", level, content_signature(words[number] * (level + 1)))
    assert watch.verdict(f"http://h/x?page={words[0]}&id=1", 3).endswith(" /x?id=*&page=*")
    assert watch.verdict("http://h/x?page=news&id=1", 3) is None


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("width", [1, 2, 7])
def test_listing_is_not_cut_when_its_signatures_are_sampled(width):
    pages, cuts = crawl(Listing(3_000, width), TrapWatch())
    assert (len(pages), cuts) == (3_000, {})


def test_small_section_with_equal_texts_is_not_cut():
    watch = TrapWatch()
    for number in range(trap_watch.MIN_PAGES - 1):
        watch.observe(f"http://h/user?id={number}", number, content_signature("Please log in"))
    assert watch.verdict("http://h/user?id=1000", 1_000) is None
    watch.observe("http://h/user?id=1000", 1_000, content_signature("Please log in"))
    assert watch.verdict("http://h/user?id=1001", 1_001)


def test_cut_waits_for_the_end_of_the_level():
    watch = TrapWatch()
    for number in range(500):
        watch.observe(f"http://h/user?id={number}", 3, content_signature("Please log in"))
        assert watch.verdict(f"http://h/user?id={number}", 3) is None
    assert watch.verdict("http://h/user?id=501", 4) == "trap_content 500 /user?id=#"


def simulated(runs):
    pages = [
        (f"http://h/{head}{number}", level, content_signature(f"{chr(0x430 + number % texts)} {head}"))
        for head, count, texts, level in runs
        for number in range(count)
    ]
    return sorted(pages, key=lambda page: page[1])


def verdicts(watch, level):
    heads = (
        "cal?d=1",
        "x?v=a&zz=9f86d081884c7d65&n=1",
        "x?v=b&n=1",
        "x?v=c&n=1",
        "y?zz=4e07408562bedb8b&n=1",
        "p1",
    )
    return [watch.verdict(f"http://h/{head}", level) for head in heads]


def run(pages):
    """Observe *pages*; return the verdicts at the beginning of every level."""
    watch, told = TrapWatch(), []
    for level in range(7):
        told.append(verdicts(watch, level))
        for page in pages:
            if page[1] == level:
                watch.observe(*page)
    return told


@pytest.fixture
def tiny(monkeypatch):
    """Lower all bounds so that sites of a few hundred pages reach them."""
    for name, value in {"MIN_PAGES": 20, "WINDOW_PAGES": 10, "MAX_SAMPLE": 16}.items():
        monkeypatch.setattr(trap_watch, name, value)
    monkeypatch.setattr(TrapWatch.__init__, "__defaults__", (20, 5))


@pytest.mark.usefixtures("tiny")
def test_order_within_levels_changes_no_verdict_at_the_bounds():
    cuts = 0
    for seed in range(60):
        rng = random.Random(seed)
        heads = [
            "cal?d=",
            "x?v=a&zz=9f86d081884c7d65&n=",
            "x?v=b&n=",
            *(f"s/{chr(103 + n)}?q=g&n=" for n in range(18)),
        ]
        pages = simulated(
            [(rng.choice(heads), rng.randint(1, 50), rng.choice([1, 3, 40]), rng.randint(0, 5)) for _ in range(25)]
        )
        expected = run(pages)
        cuts += sum(any(told) for told in expected)
        for _ in range(3):
            rng.shuffle(pages)
            assert run(pages) == expected
    assert cuts > 30  # otherwise nothing was compared


def test_trap_behind_a_rich_part_of_the_same_pattern_is_cut():
    watch = TrapWatch()
    rng = random.Random(3)
    for number in range(20_000):
        text = "".join(rng.choices("ghijklmnop", k=12))
        watch.observe(f"http://h/x?id={number}", 1 + number // 5_000, content_signature(text))
    assert watch.verdict("http://h/x?id=1", 9) is None
    level = 10
    while watch.verdict("http://h/x?id=1", level) is None:
        assert level < 400
        for number in range(10):
            watch.observe(f"http://h/x?id={number}", level, content_signature("nothing here"))
        level += 1


def test_memory_stays_bounded_on_a_site_of_many_patterns_and_texts():
    watch = TrapWatch()
    for number in range(60_000):
        word = letters(number)
        watch.observe(f"http://h/{word if number % 2 else 'x'}?id=1", number // 9_000, content_signature(word))
        assert len(watch._patterns) + len(watch._new) <= 3 * trap_watch.MAX_PATTERNS
    assert watch.verdict("http://h/x?id=1", 100) is None
    assert len(watch._patterns) <= trap_watch.MAX_PATTERNS
    assert sum(len(one.known) for one in watch._patterns.values()) <= trap_watch.MAX_SIGNATURES


def test_trap_is_found_among_a_flood_of_patterns():
    watch, level = TrapWatch(), 0
    while watch.verdict("http://h/cal?d=1", level) is None:
        assert level < 60
        for number in range(3_000):
            word = letters(level * 3_000 + number)
            watch.observe(f"http://h/{word}", level, content_signature(word))
        for number in range(20):
            watch.observe(f"http://h/cal?d={number}", level, content_signature("May"))
        level += 1
    assert watch.verdict("http://h/zz", level) is None


def chain(pages, text):
    """Numbered pages, each linked to the next one: URL, level and signature of each."""
    for number in range(pages):
        own, *near = (f"http://h/page/{one}.html" for one in (number, number - 1, number + 1))
        yield own, number, content_signature(text(number), [own, *near])


def cells(number, columns=3):
    return " ".join(str((number * 7919 + column * 104729) % 999_983) for column in range(columns))


@pytest.mark.usefixtures("full_evidence")
@pytest.mark.parametrize(
    "text",
    [
        lambda number: f"Page {number}",
        lambda number: f"Table {number}: {cells(number, 30)}",
        lambda number: f"Lamp, {cells(number, 1)} EUR. Item {number}",
        lambda number: f"GET /x 200 {cells(number, 2)}, log of day {number}",
        lambda number: f"Home {number % 7} : {number * 3 % 11} Away, match {number}",
    ],
    ids=["numbers", "tables", "prices", "logs", "scores"],
)
def test_six_thousand_numbered_pages_linked_one_to_the_next_are_never_cut(text):
    watch = TrapWatch()
    for url, level, signature in chain(6_000, text):
        assert watch.verdict(url, level) is None
        watch.observe(url, level, signature)


def test_numbers_that_no_url_of_the_page_has_are_content():
    watch = TrapWatch()
    for url, level, signature in chain(3_000, lambda number: f"Table {number}: {cells(number)}"):
        watch.observe(url, level, signature)
        assert not watch.is_suspect(url)


@pytest.mark.usefixtures("full_evidence")
@pytest.mark.parametrize(
    ("site", "pages"),
    [
        (Filters(6, 3), 4**6),
        (Filters(6, 3, word_of), 4**6),
        (Filters(5, 5, word_of), 6**5),
        (Folders(["a/b/"], rich_text, deepest=24), 13),
        (Folders(["1/", "2/", "3/"], path_text, deepest=7), 3_280),
        (Folders(MENU, rich_text, deepest=5), 3_906),
    ],
    ids=["filters", "filters of words", "values of filters", "one folder", "numbered folders", "folders"],
)
def test_finite_combinations_of_filters_and_of_folders_are_read(site, pages):
    read, cuts = crawl(site, TrapWatch(), most=20_000)
    assert (len(read), cuts) == (pages, {})


@pytest.mark.usefixtures("full_evidence")
@pytest.mark.parametrize(
    ("site", "pages"),
    [
        (Calendar(), 10_141),
        (Dates(), 10_142),
        (Sessions(), 29_564),
        (Sessions("http://h/{word}?zz={session}", texts=20), 29_549),
        (Prices(1, 2), 11_189),
        (Added(1, 6), 12_376),
        (Folders(["1/", "2/", "3/"], path_text), 29_524),
        (Folders(["a/b/"], last_name), 4),
        (Folders(MENU[:2], last_name), 69),
        (Folders(MENU, last_name), 776),
        (Folders([f"{word_of(0, number)}/" for number in range(12)], last_name), 1_885),
    ],
    ids=[
        *("calendar", "calendar of dates"),
        *("session ids", "session ids on every page of few", "prices", "filters added"),
        *("numbered folders", "one folder", "two folders", "menu", "large menu"),
    ],
)
def test_endless_part_is_cut_once_the_evidence_is_complete(site, pages):
    read, cuts = crawl(site, TrapWatch(), most=60_000)
    assert (len(read), bool(cuts)) == (pages, True)


@pytest.mark.usefixtures("full_evidence")
def test_patterns_of_one_folder_are_cut_together():
    watch, level = TrapWatch(), 0
    while watch.verdict(f"http://h/calendar/{level}/", level) is None:
        watch.observe(f"http://h/calendar/{level}/", level, content_signature("A month", []))
        for day in range(28):
            watch.observe(f"http://h/calendar/{level}/{day}/", level, content_signature("A day", []))
        watch.observe(f"http://h/other/{level}/", level, content_signature("Other", []))
        level += 1
        assert level < 1_000
    assert watch.verdict("http://h/calendar/1/1/", level)
    assert watch.is_suspect("http://h/other/1/")
    assert watch.verdict("http://h/other/1/", level) is None


@pytest.mark.usefixtures("full_evidence")
def test_suspect_that_says_something_new_again_is_cleared():
    watch = TrapWatch()
    words = map(letters, range(10_000))
    for url, level, signature in chain(1_000, lambda number: "nothing" if number < 500 else next(words)):
        watch.observe(url, level, signature)
        assert watch.is_suspect(url) == (149 < level < 503), level  # the third new page among 50 clears it


@given(st.text(st.characters(codec=None)), st.integers(0), st.integers(0))
def test_content_signature_ignores_the_numbers_of_urls_and_whitespace(text, first, second):
    urls = [f"/x?n={first}", f"/y/{second:08}/"]
    assert content_signature(f"{text} {first}", urls) == content_signature(f"{text}\n\t {second:04}", urls)
    assert -(2**63) <= content_signature(text, urls) < 2**63


def test_content_signature_distinguishes_texts_and_numbers_but_not_ids():
    urls = ["/cal?d=2024-05-15&s=9f86d081", "/cal?d=1999-05-02&s=4e07aabb"]
    assert content_signature("May, 9f86d081", urls) == content_signature("May, 4e07aabb", urls)
    assert content_signature("15 May 2024", urls) == content_signature("2 May 1999", urls)
    assert content_signature("15 May 2024", urls) != content_signature("15 June 2024", urls)
    assert content_signature("May: 3 events", urls) != content_signature("May: 4 events", urls)
    assert content_signature("один") != content_signature("два")


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("http://h/" + "/".join(map(str, range(26))), "trap_segments 25"),
        ("http://h/?" + "&".join(f"p{n}=1" for n in range(21)), "trap_parameters 20"),
        ("http://h/" + "x" * 2048, "trap_length 2048"),
    ],
)
def test_url_that_grows_in_a_loop_is_recognised(url, word):
    assert word in shape_reason(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://h",
        "http://h/",
        "http://h/" + "a/" * 25,
        "http://h/a" + "/" * 30 + "b/",
        "http://h/" + "/".join(map(str, range(25))),
        "http://h/?" + "&".join(f"p{n}=/a/a/a/a/" for n in range(20)),
        "http://h/" + "x" * (2048 - 9),
    ],
)
def test_url_at_the_bound_passes(url):
    assert shape_reason(url) is None


@pytest.mark.parametrize("path", ["a/" * 4, "a/b/a/b/a/b/a/b.html?x", "x/a/1/a/2/a/3/a/4"])
def test_segment_that_occurs_four_times_is_a_loop(path):
    assert loop_of(f"http://h/{path}")[0] == "a"
    assert reason_of_loop(f"http://h/{path}") == f"trap_loop {path.count('a')}"


@pytest.mark.parametrize("path", ["", "a/" * 3, "a/" * 3 + "b/" * 3, "a//////////b/", "?u=/a/a/a/a/"])
def test_segment_that_occurs_less_often_is_none(path):
    assert reason_of_loop(f"http://h/{path}") is None


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        ("http://h", "/"),
        ("http://h/index.php?id=17", "/index.php?id=#"),
        ("http://h/2024/05/p17.html", "/#/#/p#.html"),
        ("http://h/cal?m=5&y=2024&d=1", "/cal?d=#&m=#&y=#"),
        ("http://h/x?zz=Ab3dE9xQ21", "/x?zz=~"),
        ("http://h/s/9f86d081884c7d659a2f/a", "/s/~/a"),
        ("http://h/x?u=123e4567-e89b-12d3-a456-426614174000", "/x?u=~"),
        ("http://h/x?f[12]=on&f[3]=on&flag", "/x?f[#]=on&flag"),
        ("http://h/x?f=1&f=2&f=red&f=red", "/x?f=#&f=red"),
        ("http://h/x?q=%C3%A9&v=1.5", "/x?q=*&v=*"),
        ("http://h/x?zz=a1234567&on=2024-05-01", "/x?on=*&zz=~"),
        ("http://h/facade/feedface", "/facade/feedface"),
        ("http://h/contact-information?view=month", "/contact-information?view=month"),
    ],
)
def test_pattern_replaces_numbers_and_ids(url, pattern):
    assert url_pattern(url) == pattern


def test_only_parameters_that_look_like_sessions_have_a_pattern_for_any_path():
    assert broad_patterns("/a?f=blue&f=red") == ("/a?f=*",)
    assert broad_patterns("/a?day=*") == ()
    assert broad_patterns("/a?n=#&view=month") == ("/a?n=*&view=*",)
    assert broad_patterns("/a?n=#&s=~&t=~") == ("/a?n=*&s=*&t=*", "*?s=~&t=~")


@given(st.text(st.characters(codec=None)))
def test_any_text_has_a_pattern_and_a_verdict(text):
    assert url_pattern(text).startswith("/")
    assert len(broad_patterns(url_pattern(text))) <= 2
    for reason in (shape_reason(text), reason_of_loop(text)):
        assert reason is None or reason.startswith("trap_")
