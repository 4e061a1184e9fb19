"""The commands of this project (COMMANDS_MODULE): crawl, explain, graph, lab, sites. It contains only commands."""
