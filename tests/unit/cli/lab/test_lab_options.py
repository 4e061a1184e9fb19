"""Options that several parts of `scrapy lab` share."""

from __future__ import annotations

import argparse

import pytest

from crawlers.cli.lab.lab_options import PARTS_WITH, add_common, refuse_others
from crawlers.commands.lab import PARTS
from crawlers.errors import ConfigError
from tests.support.sites.project import Project

VALUES = {"rules": "auto", "budget": "9", "crawl": "mine", "picture": "a.svg"}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("option", PARTS_WITH)
def test_option_of_other_parts_is_refused(part, option):
    parser = argparse.ArgumentParser()
    add_common(parser.add_argument_group("all parts"))
    refuse_others(part, parser.parse_args([]))
    given = parser.parse_args([f"--{option}", VALUES[option]])
    if part in PARTS_WITH[option]:
        refuse_others(part, given)
    else:
        with pytest.raises(ConfigError, match=f"^--{option} does not apply to {part}; leave it out$"):
            refuse_others(part, given)


def test_command_refuses_it_before_anything_is_done(tmp_path):
    ended = Project(tmp_path).run("lab", "report", "--rules", "auto")
    assert ended.status == 2
    assert ended.errors == ["Error: --rules does not apply to report; leave it out"]
