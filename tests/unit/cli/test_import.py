import json

import pytest

import meshwright as mw


@pytest.fixture
def workload(tmp_path):
    path = tmp_path / "workload"
    mw.Interests.from_pairs([(f"b{number}", "news") for number in range(5)]).write(path)
    return path


@pytest.fixture
def imported(run, workload, tmp_path):
    """Import a CSV file of this text; gives the exit code, stdout, stderr, and the overlay or None."""

    def call(text, *words, name="e.csv"):
        edges, out = tmp_path / name, tmp_path / "out"
        edges.write_text(text)
        code, said, error = run("import", workload, "--edges", edges, *words, "--out", out, "--force")
        return code, said, error, mw.Overlay.read(out) if code == 0 else None

    return call


@pytest.mark.parametrize(("mark", "given"), [(";", ";"), ("|", "|"), ("\t", "\\t"), ("\t", "\t")])
def test_the_delimiter_separates_columns(imported, mark, given):
    text = f"source{mark}target\nb1{mark}b2\n"
    assert imported(text, "--delimiter", given)[3].edges.tolist() == [[1, 2]]
    assert "check the delimiter (--delimiter)" in imported(text)[2]


def test_parquet_has_no_delimiter(run, workload, tmp_path):
    words = ("--edges", tmp_path / "e.parquet", "--delimiter", ";", "--out", tmp_path / "o")
    assert "--delimiter applies only to CSV and TSV" in run("import", workload, *words)[2]


COSTS = "source,target,cost\nb1,b2,2\nb3,b4,7\n\nb2,b1,6\nb1,b2,6\nb4,b3,7\n"


@pytest.mark.parametrize(("rule", "costs"), [("mean", [4, 7]), ("max", [6, 7]), ("min", [2, 7])])
def test_a_link_with_several_costs_gets_the_one_that_the_rule_makes_of_them(imported, rule, costs):
    _, said, _, overlay = imported(COSTS, "--cost", "cost", "--symmetrise", rule)
    assert (overlay.edges.tolist(), overlay.costs.tolist()) == ([[1, 2], [3, 4]], costs)
    assert f"1 link has several costs in the file; the {rule} of them was taken." in said


@pytest.mark.parametrize("words", [(), ("--symmetrise", "refuse")])
def test_a_link_with_several_costs_is_refused_with_both_lines_and_the_option(imported, words):
    code, _, error, _ = imported(COSTS + "b4,b3,8\n", "--cost", "cost", *words)
    assert code == 2
    assert (
        "e.csv, line 5: the link 'b1' - 'b2' costs 6, but 2 in line 2 (and 1 more link has several)" in error
    )
    assert "set --symmetrise to mean, max or min" in error


GAPS = "source,target,cost\nb1,b2,\nb2,b3,4\nb3,b4,\n"


def test_a_link_without_a_cost_gets_the_one_that_is_given(imported):
    _, said, _, overlay = imported(GAPS, "--cost", "cost", "--missing-cost", 9)
    assert overlay.costs.tolist() == [9, 4, 9]
    assert "2 rows have no cost, and got 9." in said


def test_a_link_without_a_cost_is_refused_with_its_line_and_the_option(imported):
    _, _, error, _ = imported(GAPS, "--cost", "cost")
    assert "e.csv, line 2: the link 'b1' - 'b2' has no cost (and 1 more)" in error
    assert "set --missing-cost to what such links cost" in error


@pytest.mark.parametrize(
    ("text", "words", "told"),
    [
        (GAPS, ("--missing-cost", 9), "--missing-cost has no effect without --cost"),
        (GAPS, ("--symmetrise", "max"), "--symmetrise has no effect without --cost"),
        (GAPS, ("--cost", "cost", "--missing-cost", 0), "--missing-cost is 0"),
        (GAPS, ("--cost", "cost", "--symmetrise", "sum"), "--symmetrise is 'sum'; choose among mean, max"),
        (
            "source,target,cost\nb1,b2,1\nb2,b3,-4\n",
            ("--cost", "cost"),
            "line 3: the link 'b2' - 'b3' costs -4",
        ),
        ("source,target\nb1,b2\n\n\nb3,b3\n", (), "line 5: an edge joins 'b3' to itself"),
        ("source,target\nb1,b2\nb1,b9\n", (), "line 3: there is no 'b9'"),
        ('source,target\n"b\n1",b2\nb1,b9\n', (), "line 2: there is no 'b\\n1' (and 1 more)"),
        ("source,target\nb1,b2\n\nb1,\n", (), "line 4: the target is missing"),
        (
            "source,target,cost\nb1,b2,3\nb1,b3,far\n",
            ("--cost", "cost"),
            "line 3: column 3 (cost) has 'far'; give a number",
        ),
        ("source,target\nb1,b2\n\nb1\n", (), "line 4 has 1 column instead of 2"),
    ],
)
def test_what_can_not_be_imported_is_told_with_its_line(imported, text, words, told):
    code, _, error, _ = imported(text, *words)
    assert code == 2
    assert told in error


def test_rows_that_name_a_link_again_are_counted(imported, run, workload, tmp_path):
    _, said, _, overlay = imported("source,target\nb1,b2\nb2,b1\nb3,b4\nb1,b2\n")
    assert f"{tmp_path / 'out'}: 5 nodes, 2 links\n" in said
    assert "2 rows name a link that another row names" in said
    assert overlay.facts["repeated_rows"] == 2
    words = ("--edges", tmp_path / "e.csv", "--out", tmp_path / "json", "--json")
    told = json.loads(run("import", workload, *words)[1])
    assert (told["rows"], told["repeated_rows"], told["edges"]) == (4, 2, 2)


def test_nothing_is_said_of_rows_that_are_links_of_their_own(imported, tmp_path):
    said = imported("source,target,cost\nb1,b2,3\n", "--cost", "cost")[1]
    assert said == f"{tmp_path / 'out'}: 5 nodes, 1 link, with costs\n"


@pytest.mark.parametrize(
    ("text", "words", "told"),
    [
        ("source,target,cost\nb1,b2,3\n", (), True),
        ("source,target,cost\nb1,b2,3\n", ("--cost", "cost"), False),
        ("source,target\nb1,b2\n", (), False),
        ("b1,b2\n", ("--source", "1", "--target", "2"), False),
    ],
)
def test_a_column_of_costs_that_was_not_read_is_told(imported, text, words, told):
    code, said, _, _ = imported(text, *words)
    assert code == 0
    assert ("The column 'cost' was not read; give --cost cost" in said) == told


def test_the_unit_of_costs_is_kept_and_shown(imported, run, tmp_path):
    code, *_ = imported("source,target,cost\nb1,b2,3\n", "--cost", "cost", "--unit", "ms")
    assert code == 0
    assert json.loads(run("evaluate", tmp_path / "out", "--json")[1])["cost_unit"] == "ms"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--unit", "ms"), "--unit has no effect without --cost"),
        (("--cost", "cost", "--unit", "two words"), "--unit is 'two words'; give one short word"),
    ],
)
def test_a_unit_of_nothing_or_of_several_words_is_refused(imported, words, told):
    code, _, error, _ = imported("source,target,cost\nb1,b2,3\n", *words)
    assert code == 2
    assert told in error
