"""Reads dates that people write: numbers and names of months of all languages of CLDR, and their calendars.

Begin with `date_notations`. No function reads the clock.
"""
