"""An article out of a news page: its title, text, date, authors, section, language.

Begin with `article_reader`.
"""
