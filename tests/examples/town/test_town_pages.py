"""The pages of the town have the links of the plan, in sentences, and a frame in their language."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urljoin

import pytest

from examples.town.plan import SITES, plan
from examples.town.responses import town
from examples.town.town_pages import passing, planned, story

WEB = town()
PLAN = plan(1)


def address(page):
    return WEB.origins[page.site] + page.path


def links(html):
    return re.findall(r'<a href="([^"]*)">([^<]*)</a>', html)


@pytest.mark.parametrize("site", SITES)
def test_main_part_of_a_page_has_the_links_of_the_plan(site):
    numbers = [number for number, page in enumerate(PLAN.pages) if page.site == site]
    for number in numbers:
        page, html = PLAN.pages[number], planned(WEB, number)
        main = html.split("<main>")[1].split("</main>")[0]
        found = [urljoin(address(page), unescape(href)) for href, _ in links(main)]
        assert found == [address(PLAN.pages[target]) for target in PLAN.links[number]]


@pytest.mark.parametrize("site", SITES)
def test_frame_links_to_home_sections_friends_and_portal(site):
    number = PLAN.numbers[site, "/"] + (site != "news")
    before, _, after = re.split("</?main>", planned(WEB, number))
    assert ("/", SITES[site].name) in links(before)
    assert len(links(before)) == 1 + (4 if site != "news" else 0)
    assert links(after)[-1][0] == WEB.origins["portal"] + "/"
    assert len(links(after)) >= 4


def test_most_anchor_texts_are_the_title_of_the_target():
    titles = {address(page): page.title for page in PLAN.pages}
    named = [
        titles[urljoin(address(page), unescape(href))] == unescape(text)
        for number, page in enumerate(PLAN.pages)
        for href, text in links(planned(WEB, number).split("<main>")[1].split("</main>")[0])
    ]
    assert 0.8 < sum(named) / len(named) < 0.9


@pytest.mark.parametrize(("site", "letters"), [("signals", "[а-яА-Я]"), ("courtyard", "[\u4e00-\u9fff]")])
def test_two_sites_are_not_english(site, letters):
    html = planned(WEB, PLAN.numbers[site, "/"] + 1)
    text = re.sub("<[^>]*>", "", html)
    assert f'lang="{SITES[site].lang}"' in html
    assert len(re.findall(letters, text)) > len(re.findall("[a-zA-Z]", text))


def test_story_links_to_pages_about_its_subject():
    page = story(7)
    main = passing(WEB, page).split("<main>")[1].split("</main>")[0]
    subjects = {address(one): one.subject for one in PLAN.pages}
    assert {subjects[unescape(href)] for href, _ in links(main)} == {page.subject}
