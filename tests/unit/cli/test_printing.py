"""What is printed for people: names can't steer their terminal."""

import pytest

from meshwright.cli.common import fail, print_table

EVIL = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31mrow\r\nname"
SHOWN = r"\x1b]0;owned\x07\x1b[2J\u202e\x9b31mrow\r\nname"


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


def test_a_table_shows_what_a_name_hides(capsys):
    print_table(("most popular topics", "subscribers"), [(EVIL, 3), ("ключ‌", 2)], title=EVIL)
    out = capsys.readouterr().out
    assert out.count(SHOWN) == 2
    assert "ключ‌" in out
    assert not set(EVIL) & set(out) - set(SHOWN) - {"\n"}


def test_an_error_shows_what_a_name_hides(capsys):
    assert fail(f"there is no {EVIL}", 2) == 2
    assert capsys.readouterr().err == "meshwright: there is no " + SHOWN.replace(r"\r\n", " ") + "\n"
