import pytest

from meshwright.serve.reconciling.events import Members, Wishes, believable
from meshwright.serve.reconciling.watching import MOST_TOPICS

PLAIN = Members({"a": frozenset({"t"})}, None)
FILTERS = Members({"a": frozenset({"t"})}, "mqtt")


@pytest.mark.parametrize(
    ("members", "told", "good", "says"),
    [
        (PLAIN, ["t", "u/v"], {"t", "u/v"}, ""),
        (PLAIN, ["t", "u/#"], {"t"}, "'u/#' can't be used"),
        (FILTERS, ["u/#", "+"], {"u/#", "+"}, ""),
        (FILTERS, ["u/#/v", "w"], {"w"}, "'u/#/v' can't be used"),
        (FILTERS, ["a b", "\ud800", "", "w"], {"w"}, "it has a blank"),
        (PLAIN, [str(number) for number in range(MOST_TOPICS + 1)], set(), "are believed"),
    ],
)
def test_what_no_plan_could_have_is_not_believed(
    members: Members, told: list[str], good: set[str], says: str
) -> None:
    found, why = believable(told, "mqtt", members)
    assert found == good
    assert says in why
    assert bool(why) is bool(says)


def test_only_what_was_heard_of_ends_and_only_after_a_window_without_it() -> None:
    wishes = Wishes(30)
    assert wishes.new("a", ["t", "u"], PLAIN) == ["u"]
    assert wishes.ended("a", [], ["u"], 100) == []
    assert wishes.ended("a", ["u"], ["u"], 120) == []
    assert wishes.ended("a", [], ["u"], 125) == []
    assert wishes.ended("a", [], ["u"], 154) == []
    assert wishes.ended("a", [], ["u"], 155) == ["u"]
