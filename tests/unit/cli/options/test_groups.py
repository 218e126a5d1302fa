"""Options that together make the value of one parameter."""

from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from meshwright.cli.options.groups import options_for


def point(
    x: Annotated[int, typer.Option(help="How far right.")], y: Annotated[int, typer.Option()] = 7
) -> str:
    return f"{x}:{y}"


@pytest.fixture
def call():
    """Runs a command with a group of options; returns what came and what it printed."""
    app = typer.Typer()

    @app.command()
    @options_for("where", point)
    def show(name: str, where: str, loud: bool = False) -> None:
        """Show it."""
        print(name, where, loud)

    return lambda *words: CliRunner().invoke(app, words)


def test_the_parameter_is_made_of_the_options_given_and_of_defaults(call):
    assert call("a", "--x", "3").output == "a 3:7 False\n"
    assert call("a", "--x", "3", "--y", "4", "--loud").output == "a 3:4 True\n"


def test_an_option_without_default_is_asked_for(call):
    assert call("a").exit_code == 2


def test_help_shows_the_options_and_not_the_parameter(call):
    shown = call("--help").output
    assert "How far right." in shown
    assert "where" not in shown


def test_an_option_that_two_groups_ask_for_is_shown_once_and_given_to_both():
    app = typer.Typer()

    @app.command()
    @options_for("here", point)
    @options_for("there", point)
    def show(here: str, there: str) -> None:
        print(here, there)

    assert CliRunner().invoke(app, ["--x", "3"]).output == "3:7 3:7\n"
