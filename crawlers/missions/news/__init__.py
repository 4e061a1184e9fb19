"""News crawls: articles first, once, soon after they appear.

Begin with `news_policy`, which coordinates feeds and polls (`feeds`, `plan`), rules of URLs (`urls`), articles
(`article`, `dates`) and copies of documents (`dedup`). `stored` has the tables, `reports` what people see.
"""
