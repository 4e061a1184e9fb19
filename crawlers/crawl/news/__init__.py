"""The policy of news crawls: `news_policy` coordinates feeds, polls, URL rules and documents."""
