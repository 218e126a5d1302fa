"""What every command promises of its help: legible at any width, and complete."""

import re
from typing import Any

import pytest
import typer

from meshwright.cli import app
from meshwright.cli.help import MOST_COLUMNS, Row, help_lines, laid_out

GROUP: Any = typer.main.get_command(app)
COMMANDS = {"": GROUP, **GROUP.commands}
WIDTHS = (60, 80, 120)


def lines_of(name, width):
    command = COMMANDS[name]
    context = typer.Context(command, info_name=f"meshwright {name}".strip())
    return list(help_lines(command, context, min(width, MOST_COLUMNS)))


def plain(text):
    return " ".join(text.replace("`", "").split())


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_no_line_of_help_is_wider_than_the_terminal(name, width):
    assert max(map(len, lines_of(name, width))) <= width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_help_holds_every_word_whole_and_in_order(name, width):
    said = plain("\n".join(lines_of(name, width)))
    for paragraph in COMMANDS[name].help.split("\n\n"):
        assert plain(paragraph) in said
    for one in COMMANDS[name].params:
        assert one.help, f"{one.name} has no help"
        assert plain(one.help) in said


@pytest.mark.parametrize("name", COMMANDS)
def test_words_about_options_have_at_least_half_of_80_columns(name):
    lines = lines_of(name, 80)
    heads = [at for at, line in enumerate(lines) if re.match(r"  -", line)]
    assert heads
    for at in heads:
        words = re.match(r"  (?:-\S+(?:, -\S+)*(?: \S+)?)  +(\S)", lines[at])
        start = words.start(1) if words else len(lines[at + 1]) - len(lines[at + 1].lstrip())
        assert 80 - start >= 40


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_flags_values_and_defaults_on_one_line(name):
    said = lines_of(name, 80)
    for one in COMMANDS[name].params:
        if one.param_type_name != "option":
            continue
        value = "" if one.is_flag else f" {one.metavar}" if one.metavar else ""
        assert any(line.startswith(f"  {one.opts[0]}") and value in line for line in said)
        if one.show_default and not one.is_flag and one.default not in (None, []):
            assert any(f"[default: {one.default}]" in line for line in said)


def test_a_long_name_has_a_line_of_its_own_and_a_short_one_shares_it():
    rows = [Row("--short", "one two"), Row("--long a|very|long|list|of|values", "three four")]
    left = 60 // 3
    assert list(laid_out(rows, 60)) == [
        "  --short" + " " * (left - 9) + "one two",
        "  --long a|very|long|list|of|values",
        " " * left + "three four",
    ]


def test_a_word_that_is_wider_than_its_column_stays_whole():
    address = "s3a://" + 50 * "x"
    assert [*laid_out([Row("--out", f"such as {address}")], 60)][-1].strip() == address


@pytest.mark.parametrize("name", GROUP.commands)
def test_examples_can_be_copied_as_they_stand(name):
    """Each command in the epilog is there, whole or continued as a shell understands it."""
    said = re.sub(r" \\\n +", " ", "\n".join(lines_of(name, 80)))
    for example in re.findall(r"(?m)^`(.+)`$", COMMANDS[name].epilog or ""):
        assert f"\n  {example}" in said


@pytest.mark.parametrize("width", WIDTHS)
def test_the_table_of_algorithms_fits_and_breaks_no_word(width, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    _, table, _ = run("algorithms")
    assert max(map(len, table.splitlines())) <= width
    monkeypatch.setenv("COLUMNS", "1000")
    _, wide, _ = run("algorithms")
    assert {*table.replace("─", "").split()} == {*wide.replace("─", "").split()}


@pytest.mark.parametrize("name", GROUP.commands)
def test_examples_come_before_the_options(name):
    said = lines_of(name, 80)
    if "Examples:" in said:
        assert said.index("Examples:") < said.index("Options:")


def test_arguments_that_may_be_left_out_are_in_brackets():
    assert lines_of("report", 80)[0].startswith("Usage: meshwright report TODAY [TARGET...] ")
    assert lines_of("migrate", 80)[0].startswith("Usage: meshwright migrate TODAY TARGET ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("generate", "--out", "x"), "the argument LAW is missing (unif, zipf, expo or grid)"),
        (("generate", "unif"), "the option --out is missing"),
        (("generate", "unif", "--nodes", "many", "--out", "x"), "invalid value for '--nodes'"),
    ],
)
def test_a_wrong_call_is_told_in_a_line_that_begins_in_lower_case(words, said, run):
    code, _, err = run(*words)
    assert code == 2
    assert err.startswith(f"meshwright: {said}")


def test_options_without_a_default_are_listed_as_none(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    _, table, _ = run("algorithms")
    assert "weights=none" in table
    assert "=-" not in table
