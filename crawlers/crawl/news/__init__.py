"""The policy of news crawls: `news_policy` coordinates feeds, polls, URL rules and documents.

`next_visits` decides when a page is fetched again, `rule_learning` has URL rules learnt; `requeue` and `rejudging`
apply them to the pages that wait, or were read before.
"""
