"""What is told of links when both of their ends are known."""

from meshwright.deploy.mesh import Broker, Door, Flow, Place
from meshwright.deploy.settle import settle

HERE = Place("x", 1)


def broker(name: str, *doors: Door, kind: str = "nats") -> Broker:
    return Broker(name, kind, HERE, (), doors=doors)


def leaf(user: str | None = None) -> list[Flow]:
    """A leaf node that dials a hub, out and back."""
    out = Flow("leaf", "hub", ">", "", "", "link", HERE, account="L", refuses_loops=True, user=user)
    back = out._replace(source="hub", target="leaf", account=None, target_account="L", pulls=True)
    return [out, back]


def settled(flows: list[Flow], *brokers: Broker) -> list[Flow]:
    found, notes = settle(brokers, flows)
    assert notes == []
    return found


def routes(*pairs: tuple[str, str]) -> list[Flow]:
    return [Flow(*pair, ">", "", "", "cluster", Place(pair[0], 1), meshed=True) for pair in pairs]


def test_a_link_joins_the_account_of_the_user_that_it_logs_in_as() -> None:
    doors = Door("a", "A"), Door("b", "B"), Door(None, "C")
    for user, account in (("a", "A"), ("b", "B"), (None, "C")):
        out, back = settled(leaf(user), broker("leaf"), broker("hub", *doors))
        assert (out.account, out.target_account) == ("L", account)
        assert (back.account, back.target_account) == (account, "L")


def test_a_server_without_users_takes_any_user() -> None:
    out, _ = settled(leaf("anybody"), broker("leaf"), broker("hub", Door(None, "$G")))
    assert out.target_account == "$G"


def test_a_link_that_is_refused_carries_nothing_and_is_told_once() -> None:
    for user, doors in (("c", (Door("a", "A"), Door(None, "B"))), (None, (Door("a", "A"),)), (None, ())):
        found, notes = settle([broker("leaf"), broker("hub", *doors)], leaf(user))
        assert found == []
        assert [(note.rule, note.place) for note in notes] == [("not-decided", HERE)]


def test_what_a_user_may_publish_and_subscribe_to_limits_its_link() -> None:
    door = Door("a", "A", takes=("p.>", "q"), gives=("s.*",), takes_not=("p.x",), gives_not=("s.y",))
    found = settled([flow._replace(denies=("d",)) for flow in leaf("a")], broker("leaf"), broker("hub", door))
    assert [(flow.filter, flow.denies) for flow in found if not flow.pulls] == [
        ("p.>", ("d", "p.x")),
        ("q", ("d", "p.x")),
    ]
    assert [(flow.filter, flow.denies) for flow in found if flow.pulls] == [("s.*", ("d", "s.y"))]


def test_a_door_that_lets_nothing_through_leaves_no_flow() -> None:
    assert settled(leaf("a"), broker("leaf"), broker("hub", Door("a", "A", takes=(), gives=()))) == []


def test_filters_of_zenoh_meet_what_a_door_allows() -> None:
    door = Door(None, None, takes=("a/**", "*/b"))
    flow = Flow("one", "two", "*/b/**", "", "", "link", HERE, once=True)
    found = settled([flow], broker("one", kind="zenoh"), broker("two", door, kind="zenoh"))
    assert [each.filter for each in found] == ["a/b/**", "*/b"]


def test_links_to_brokers_without_doors_inside_a_broker_or_out_of_the_mesh_stay() -> None:
    plain = Flow("a", "b", "#", "", "", "link", HERE)
    inside = plain._replace(source="b", target="b", filter="x")
    outside = plain._replace(target="elsewhere:1", refuses_loops=True)
    brokers = broker("a", kind="mosquitto"), broker("b", kind="mosquitto")
    assert settled([plain, inside, outside], *brokers) == [plain, inside, outside]


def test_servers_that_routes_connect_form_a_full_mesh_on_one_link() -> None:
    names = ["a", "b", "c", "d", "e"]
    flows = routes(("a", "b"), ("c", "b"), ("b", "c"), ("d", "e"), ("a", "outside:1"), ("a", "a"))
    found = settled(flows, *map(broker, names))
    pairs = {(flow.source, flow.target) for flow in found}
    assert pairs == {(x, y) for x in "abc" for y in "abc" if x != y} | {("d", "e"), ("e", "d")}
    assert len(found) == len(pairs)
    assert len({flow.link for flow in found if flow.source in "abc"}) == 1
    assert len({flow.link for flow in found}) == 2


def test_the_flows_of_a_mesh_are_at_the_place_of_the_route_that_is_written() -> None:
    found = settled(routes(("a", "b"), ("b", "c")), *map(broker, "abc"))
    place_of = {(flow.source, flow.target): flow.place.file for flow in found}
    assert (place_of["a", "b"], place_of["b", "a"], place_of["c", "b"]) == ("a", "a", "b")
    assert place_of["a", "c"] in ("a", "b")
