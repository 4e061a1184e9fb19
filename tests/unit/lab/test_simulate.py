"""`scrapy lab simulate` compares rules, with the same results for any number of processes."""

SMALL = ("--profile", "institutes", "--webs", "9", "--budget", "120", "--rules", "auto,gittins")


def simulated(project, *arguments):
    return project.run("lab", "simulate", *arguments).done().output


def test_table_and_file_have_every_rule_on_every_web_with_one_process_and_with_two(project):
    tables = [simulated(project, *SMALL, "--jobs", str(jobs), "--out", f"{jobs}.csv") for jobs in (1, 2)]
    assert tables[0].replace("1.csv", "2.csv") == tables[1]
    assert (project.folder / "1.csv").read_bytes() == (project.folder / "2.csv").read_bytes()
    lines = tables[0].splitlines()
    assert lines[0] == "institutes: 9 webs, 120 pages each"
    assert {line.split()[0] for line in lines[2:6]} == {"oracle", "auto", "gittins", "trivial"}
    rows = project.table("1.csv")
    assert len(rows) == 9 * 5 * 40  # webs, rules with the two oracles, checkpoints
    assert {row["rule"] for row in rows} == {"auto", "gittins", "trivial", "oracle", "omniscient"}
    assert {row["pages"] for row in rows if row["web"] == "8"} == {str(3 * step) for step in range(1, 41)}
