"""The commands of this project (COMMANDS_MODULE): crawl, explain, graph, lab, sites. Nothing but commands."""
