"""Facts and events of histories as lines."""

from crawlers.reports.histories.history import Subject, history, history_lines


def lines(facts):
    return history_lines(history("", "", facts, Subject()))[1:]
