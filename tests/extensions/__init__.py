"""Tests of crawlers/extensions."""
