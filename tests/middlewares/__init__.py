"""Tests of crawlers/middlewares."""
