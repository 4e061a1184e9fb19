"""Runs commands in the process of the test, which is faster than starting one for each."""

from argparse import ArgumentParser

from tests.support.opened_crawl import project_settings


def run_here(command, url, *arguments, **settings):
    """Run a new *command* on the store *url*; return its exit status."""
    parser = ArgumentParser()
    command.settings = project_settings(**{"DATABASE_URL": url} | settings)
    command.add_options(parser)
    options, rest = parser.parse_known_args(arguments)
    command.run(rest, options)
    return command.exitcode
