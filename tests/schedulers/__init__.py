"""Tests of crawlers/schedulers."""
