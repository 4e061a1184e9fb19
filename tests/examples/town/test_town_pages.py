"""The pages of the town have the links of the plan, in sentences, and a frame in their language."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urljoin

import pytest

from examples.town.plan import SITES, plan
from examples.town.responses import town
from examples.town.town_pages import planned

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
