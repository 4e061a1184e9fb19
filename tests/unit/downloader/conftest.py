"""The handlers import Twisted's reactor, without which the other tests of this process run."""

import sys

import pytest


@pytest.fixture(autouse=True)
def no_reactor_afterwards():
    yield
    sys.modules.pop("twisted.internet.reactor", None)
