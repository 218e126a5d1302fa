"""Clusters of NATS servers, as nats-server 2.15.1 was measured."""

import pytest

from meshwright.deploy.clusters import ROUTE, Clusters, components
from meshwright.deploy.mesh import Broker, Flow, Note, Place


def leaf(opener: str, hub: str, account: str = "$G", line: int = 1) -> list[Flow]:
    """A leaf link, out and back."""
    place = Place(opener, line)
    out = Flow(
        opener, hub, ">", "", "", f"{opener} {hub} {account}", place, account=account, refuses_loops=True
    )
    out = out._replace(target_account=account)
    return [out, out._replace(source=hub, target=opener, pulls=True)]


def routes(*pairs: tuple[str, str], link: str = ROUTE) -> list[Flow]:
    return [Flow(*pair, ">", "", "", link, Place(pair[0], 1), meshed=True) for pair in pairs]


def links(clusters: Clusters, *leaves: list[Flow]) -> tuple[set[str], list[Note]]:
    """The leaf links that are kept, and the notes."""
    flows, notes = clusters.with_leaf_links([flow for each in leaves for flow in each])
    return {flow.link for flow in flows}, notes


def test_leaf_links_of_all_members_to_a_hub_are_like_one() -> None:
    clusters = Clusters(routes(("s1", "s2")))
    kept, notes = links(clusters, leaf("s1", "h"), leaf("s2", "h"))
    assert (kept, notes) == ({"s1 h $G"}, [])


def test_leaf_links_between_the_members_of_two_clusters_are_like_one() -> None:
    clusters = Clusters(routes(("s1", "s2"), ("h1", "h2")))
    kept, notes = links(clusters, leaf("s1", "h1"), leaf("s2", "h2"))
    assert (kept, notes) == ({"s1 h1 $G"}, [])


def test_links_for_other_accounts_are_links_of_their_own() -> None:
    clusters = Clusters(routes(("s1", "s2")))
    leaves = [leaf(name, "h", account) for name in ("s1", "s2") for account in "XY"]
    kept, notes = links(clusters, *leaves)
    assert (kept, notes) == ({"s1 h X", "s1 h Y"}, [])


def test_members_without_the_link_can_not_be_reached() -> None:
    clusters = Clusters(routes(("s1", "s2"), ("s2", "s3")))
    kept, (note,) = links(clusters, leaf("s2", "h", line=7))
    assert kept == {"s2 h $G"}
    assert (note.rule, note.severity, note.place) == ("unreachable", "warning", ("s2", 7))
    assert note.message.startswith("'s1', 's3' can't be reached over this link to 'h'")


def test_servers_behind_a_gateway_need_no_leaf_link() -> None:
    clusters = Clusters([*routes(("s1", "s2")), *routes(("s1", "far"), link="gateway")])
    notes = links(clusters, leaf("s1", "h"), leaf("s2", "h"))[1]
    assert "unreachable" not in {note.rule for note in notes}


def test_links_that_are_refused_are_not_told_as_delivering_twice() -> None:
    clusters = Clusters(routes(("h1", "h2")))
    leaves = leaf("s", "h1"), leaf("s", "h2"), leaf("h1", "s"), leaf("h2", "s")
    assert "doubled-delivery" not in {note.rule for note in links(clusters, *leaves)[1]}


def test_a_server_with_links_to_two_members_of_a_cluster_gets_everything_twice() -> None:
    clusters = Clusters(routes(("h1", "h2")))
    kept, (note,) = links(clusters, leaf("l", "h1"), leaf("l", "h2", line=2))
    assert kept == {"l h1 $G"}
    assert (note.rule, note.severity, note.place) == ("doubled-delivery", "error", ("l", 2))


def test_links_of_servers_that_are_in_no_cluster_stay() -> None:
    kept, notes = links(Clusters([]), leaf("l", "h1"), leaf("l", "h2"), leaf("m", "h1"))
    assert (len(kept), notes) == (3, [])


def test_a_leaf_link_inside_a_cluster_or_to_itself_is_refused() -> None:
    clusters = Clusters(routes(("s1", "s2")))
    kept, notes = links(clusters, leaf("s1", "s2"), leaf("h", "h", "X"), leaf("h", "s1"))
    assert kept == {"h s1 $G"}
    assert [(note.rule, note.severity, note.place.file) for note in notes] == [
        ("refused-link", "error", "s1"),
        ("refused-link", "error", "h"),
    ]


def test_components_are_what_pairs_connect() -> None:
    found = components([("a", "b"), ("d", "c"), ("b", "d"), ("x", "y"), ("z", "z")])
    assert found["a"] == found["d"] == ["a", "b", "c", "d"]
    assert (found["y"], found["z"]) == (["x", "y"], ["z"])


def test_leaf_links_to_clusters_that_gateways_join_are_refused() -> None:
    clusters = Clusters([*routes(("g1", "g2")), *routes(("g2", "h1"), link="gateway")])
    kept, notes = links(clusters, leaf("a", "g1"), leaf("a", "h1"))
    assert (kept, [note.rule for note in notes]) == (set(), ["refused-link"])


def test_a_link_that_closes_a_cycle_through_a_cluster_is_told_and_one_beside_is_not() -> None:
    clusters = Clusters(routes(("c1", "c2")))
    kept, notes = links(clusters, leaf("b", "c1"), leaf("c2", "b"), leaf("d", "c2"))
    assert kept == {"b c1 $G", "d c2 $G"}
    assert "refused-link" in [note.rule for note in notes]
    other = leaf("c2", "b", "other")
    assert "refused-link" not in [note.rule for note in links(clusters, leaf("b", "c1"), other)[1]]


def test_links_opened_at_opposite_ends_that_meet_in_an_account_are_not_decided() -> None:
    one, [out, back] = leaf("a", "b", "B"), leaf("b", "a", "B")
    other = [out._replace(account="A"), back._replace(target_account="A")]
    assert [note.rule for note in links(Clusters([]), one, other)[1]] == ["not-decided"]


def test_a_link_that_some_members_lack_is_apart_from_the_routes() -> None:
    clusters = Clusters(routes(("c1", "c2")))
    some, _ = clusters.with_leaf_links(leaf("c1", "h"))
    all_of_them, _ = clusters.with_leaf_links([*leaf("c1", "h"), *leaf("c2", "h")])
    assert {flow.apart_from_routes for flow in some} == {True}
    assert {flow.apart_from_routes for flow in all_of_them} == {False}


def test_a_cycle_through_gateways_is_refused() -> None:
    clusters = Clusters(routes(("x", "z"), link="gateway"))
    kept, notes = links(clusters, leaf("x", "y"), leaf("y", "z"))
    assert (kept, [note.rule for note in notes]) == ({"x y $G"}, ["refused-link"])


def test_of_two_cycles_through_clusters_each_has_a_link_that_is_refused() -> None:
    """Measured: of these, nats-server closes several with "Loop detected", and nothing goes round."""
    clusters = Clusters(routes(("v", "w"), ("x", "y")))
    ring = [leaf("v", "y"), leaf("x", "v"), leaf("y", "v"), leaf("x", "z"), leaf("y", "z"), leaf("z", "v")]
    kept, notes = links(clusters, *ring)
    assert kept == {"v y $G", "x z $G"}
    assert [note.place.file for note in notes if note.rule == "refused-link"] == ["x", "z"]


def test_links_that_a_server_and_a_cluster_open_to_each_other_are_not_decided() -> None:
    clusters = Clusters(routes(("x", "y")))
    out, back = leaf("v", "y", "X")
    other = [out._replace(target_account="Y"), back._replace(account="Y")]
    (note,) = [note for note in links(clusters, leaf("x", "v", "X"), other)[1] if note.rule == "not-decided"]
    assert note.message.startswith("'x' or its cluster ('y') and 'v' open leaf node connections")


def test_a_link_to_a_member_meets_those_that_other_members_open() -> None:
    """Measured: by the order in which servers start, one is refused."""
    out, back = leaf("v", "y", "X")
    other = [out._replace(account="Y"), back._replace(target_account="Y")]
    notes = links(Clusters(routes(("x", "y"))), leaf("x", "v", "X"), leaf("y", "v", "X"), other)[1]
    assert [note.rule for note in notes] == ["not-decided"]
    assert notes[0].message.startswith("'v' and 'y' or its cluster ('x') open leaf node connections")


def test_a_mesh_keeps_the_accounts_of_its_links_apart() -> None:
    clusters = Clusters(routes(("x", "y")))
    others = [*leaf("x", "v", "X"), *leaf("y", "v", "Y")]
    found = {(flow.source, flow.account, flow.target_account) for flow in clusters.full_meshes(others)}
    assert found == {(server, account, account) for server in "xy" for account in "XY"}


def test_cycles_that_servers_never_see_are_left_to_the_search_for_loops() -> None:
    """Measured: over gateways messages loop, over routes they arrive twice, whoever starts first."""
    gateways = Clusters(routes(("x", "y"), link="gateway"))
    for ring in (
        [leaf("x", "y")],
        [leaf("x", "a"), leaf("y", "a")],
        [leaf("x", "a"), leaf("a", "b"), leaf("y", "b")],
    ):
        kept, notes = links(gateways, *ring)
        assert (len(kept), notes) == (len(ring), [])
    kept, notes = links(Clusters(routes(("x", "y"))), leaf("x", "a"), leaf("a", "b"), leaf("y", "b"))
    assert (len(kept), {note.rule for note in notes}) == (3, {"unreachable"})


def test_of_several_cycles_over_gateways_any_may_be_refused() -> None:
    clusters = Clusters(routes(("x", "y"), ("y", "z"), link="gateway"))
    kept, notes = links(clusters, leaf("x", "y"), leaf("z", "y"))
    assert (kept, [note.rule for note in notes]) == (set(), ["refused-link", "refused-link"])
    _, notes = links(clusters, leaf("x", "y"), leaf("a", "y"), leaf("a", "z"))
    assert [note.rule for note in notes] == ["refused-link", "refused-link"]


def test_what_several_members_pass_on_from_hub_to_hub_arrives_twice() -> None:
    ring = [leaf(member, hub) for hub in ("a", "d") for member in ("b", "c")]
    (note,) = links(Clusters(routes(("b", "c"))), *ring)[1]
    assert (note.rule, note.severity) == ("doubled-delivery", "warning")
    assert note.witness is not None
    assert [[server for server, *_ in way] for way in note.witness[1:]] == [["a", "b", "d"], ["a", "c", "d"]]


def test_what_several_members_pass_on_over_gateways_arrives_twice() -> None:
    clusters = Clusters([*routes(("b", "c")), *routes(("b", "d"), link="gateway")])
    (note,) = links(clusters, leaf("b", "a"), leaf("c", "a"))[1]
    assert note.rule == "doubled-delivery"
    assert links(clusters, leaf("a", "b"))[1] == []


def test_members_whose_clients_want_nothing_pass_nothing_on() -> None:
    deaf = Broker("c", "nats", Place("c", 0), (), publishes=("t",), clients_known=True)
    ring = [leaf(member, hub) for hub in ("a", "d") for member in ("b", "c")]
    assert links(Clusters(routes(("b", "c")), [deaf]), *ring)[1] == []


def test_links_of_one_server_are_not_compared_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("meshwright.deploy.clusters.name_over", asked.append)
    clusters = Clusters(routes(("b", "g"), link="gateway"))
    assert links(clusters, *(leaf("b", f"h{number}") for number in range(30)))[1] == []
    assert not asked


def test_names_that_only_one_member_may_pass_on_arrive_once() -> None:
    out, back = leaf("c", "d")
    ring = [leaf("b", "a"), leaf("c", "a"), leaf("b", "d"), [out._replace(denies=(">",)), back]]
    for back_denies, rules in ((), ["doubled-delivery"]), ((">",), []):
        ring[-1][1] = back._replace(denies=back_denies)
        assert [note.rule for note in links(Clusters(routes(("b", "c"))), *ring)[1]] == rules


def test_what_is_left_of_links_that_a_cluster_and_a_server_open_to_each_other_is_not_decided() -> None:
    clusters = Clusters(routes(("b", "c")))
    notes = links(clusters, leaf("b", "a"), leaf("c", "a"), leaf("a", "b"))[1]
    assert [note.rule for note in notes] == ["not-decided"]
    assert links(Clusters([]), leaf("b", "a"), leaf("a", "b"))[1] == []


def test_links_between_servers_that_gateways_join_are_no_links_to_their_clusters() -> None:
    """Measured: of x, y and z, joined by gateways, x opens links to both others, and messages may loop."""
    clusters = Clusters(routes(("x", "y"), ("y", "z"), link="gateway"))
    notes = links(clusters, leaf("x", "y"), leaf("x", "z"))[1]
    assert ["many times" in note.message for note in notes] == [True, True]


def test_a_link_inside_a_cluster_hides_no_loop_over_gateways() -> None:
    clusters = Clusters([*routes(("x", "y")), *routes(("x", "z"), link="gateway")])
    kept, notes = links(clusters, leaf("x", "y"), leaf("x", "z"), leaf("y", "z"))
    assert (kept, [note.rule for note in notes]) == ({"x z $G"}, ["refused-link"])
