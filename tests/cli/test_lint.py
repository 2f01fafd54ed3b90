"""`dpspec lint`: text, JSON against its schema, exit codes."""


def test_a_clean_file(run, response):
    ran = run("lint", response())
    assert (ran.code, ran.out.strip()) == (0, "1 file: no finding")


def test_a_finding_has_file_line_severity_code_and_advice(run, specs):
    path = specs / "lint" / "looser-conversion--the-simple-formula.dpspec.toml"
    ran = run("lint", path)
    assert ran.code == 1
    first, *rest = ran.out.splitlines()
    assert first == f"{path}:22: warning  [looser-conversion]"
    assert any("use the better formula" in line for line in rest)
    assert rest[-1] == "1 file: 1 finding"


def test_json(run, specs):
    path = specs / "lint" / "unit-of-product--households-per-person.dpspec.toml"
    data = run("lint", path, "--format", "json").json("lint")
    (found,) = data["findings"]
    assert (found["code"], found["severity"], found["line"], found["explained"]) == ("unit-of-product", "error", 25, None)
    assert data["files"] == [str(path)]


def test_what_is_explained_is_counted_and_shown_on_demand(run, specs):
    path = specs / "safetab-2020-ddhc-a.dpspec.toml"
    quiet, told = run("lint", path), run("lint", path, "--explained")
    assert quiet.code == told.code == 0
    assert quiet.out.strip() == "1 file: no finding, 1 explained"
    assert "explained: the slides of 2024 print the square of their rho" in told.out


def test_a_file_that_cannot_be_read_is_a_finding(run, specs):
    data = run("lint", specs / "bad" / "syntax--key-given-twice.dpspec.toml", "--format", "json").json("lint")
    assert data["exit_code"] == 1
    assert [found["code"] for found in data["findings"]] == ["syntax"]


def test_a_path_that_does_not_exist(run):
    assert run("lint", "nowhere.dpspec.toml").code == 2
