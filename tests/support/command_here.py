"""Runs commands in the process of the test, which is faster than starting one for each."""

from argparse import ArgumentParser

from scrapy.settings import Settings


def run_here(command, url, *arguments, **settings):
    """Run a new *command* on the store *url*; return its exit status."""
    parser = ArgumentParser()
    command.settings = Settings({"DATABASE_URL": url, **settings})
    command.settings.setmodule("crawlers.settings", priority="default")
    command.add_options(parser)
    options, rest = parser.parse_known_args(arguments)
    command.run(rest, options)
    return command.exitcode
