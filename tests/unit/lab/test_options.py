"""Options that several parts of `scrapy lab` share."""

import argparse

import pytest

from crawlers.errors import ConfigError
from crawlers.lab import PARTS
from crawlers.lab.options import LabOptions

PARSER = argparse.ArgumentParser()
OPTIONS = LabOptions(PARSER, PARTS)


def given(option):
    value = option.choices[0] if option.choices else "7"
    return PARSER.parse_args([option.option_strings[0], value])


@pytest.mark.parametrize("part", PARTS)
def test_every_option_of_other_parts_is_refused(part):
    OPTIONS.refuse_others(part, PARSER.parse_args([]))
    for option, parts in OPTIONS.parts_with.items():
        if part in parts:
            OPTIONS.refuse_others(part, given(option))
        else:
            with pytest.raises(
                ConfigError, match=f"^{option.option_strings[0]} does not apply to {part}; leave it out$"
            ):
                OPTIONS.refuse_others(part, given(option))


def test_part_of_earlier_versions_names_what_says_the_same(project):
    ended = project.run("lab", "report")
    assert ended.status == 2
    assert "there is no part report any more: scrapy report sites has" in ended.log + ended.output
