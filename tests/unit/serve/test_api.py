"""The API in process: what each route answers, and to whom."""

import re
import time
from typing import Any

import jsonschema
import networkx as nx
import pytest
from jsonschema import Draft202012Validator

from meshwright.model.overlay import Overlay
from meshwright.routing.trees import topic_trees
from meshwright.serve.api import Api
from meshwright.serve.control_plane import ControlPlane
from meshwright.serve.limits import Limits
from meshwright.serve.schema import OPERATIONS, openapi
from meshwright.serve.tokens import Access
from tests.asgi import HOST
from tests.unit.serve.conftest import Caller, callers_of, secrets_of

Callers = dict[str, Caller]
JOIN = {"event": "join", "node": "new/1", "topics": ["t/0", "t/1"], "id": "join-1"}
SCHEMA = openapi()


def check(name: str, value: Any) -> None:
    """The value is what the schema says."""
    Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": SCHEMA["components"]}
    ).validate(value)


def test_the_schema_describes_every_route_with_its_role(plane: ControlPlane, access: Access) -> None:
    routes = {
        (own.method.lower(), own.path.replace(":path", "")): own.role
        for own in Api(plane, access, Limits()).endpoints
    }
    assert routes == {key: own.get("role", "read") for key, own in OPERATIONS.items()}
    for schema in SCHEMA["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_answer_is_as_the_schema_says(callers: Callers) -> None:
    ask = callers["write"]
    for path, name in (
        ("/healthz", "Status"),
        ("/readyz", "Status"),
        ("/v1/overlay", "Overlay"),
        ("/v1/evaluation", "Evaluation"),
        ("/v1/links", "LinksPage"),
        ("/v1/nodes?limit=3", "NodesPage"),
        ("/v1/nodes/n00", "Node"),
        ("/v1/topics", "TopicsPage"),
        ("/v1/topics/t%2F0", "Topic"),
        ("/v1/session", "Session"),
    ):
        answer = ask("GET", path)
        assert answer.status == 200, (path, answer.body)
        check(name, answer.json)
    check("Receipt", ask("POST", "/v1/events", JOIN).json)
    check("WhatIf", ask("POST", "/v1/what-if", {"nodes": ["n00"]}).json)
    check("Changes", ask("GET", "/v1/changes?since=-1").json)
    check("Problem", ask("POST", "/v1/events", JOIN | {"id": "join-2"}).json)


GUARDED = [key for key, own in OPERATIONS.items() if own.get("role", "read") is not None]


@pytest.mark.parametrize("who", ["nobody", "stranger"])
@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_nobody_is_let_in_without_a_token(still: Callers, who: str, method: str, path: str) -> None:
    answer = still[who](method.upper(), path.replace("{name}", "n00"), JOIN if method == "post" else None)
    assert answer.status == 401
    assert b"n00" not in answer.body
    check("Problem", answer.json)


@pytest.mark.parametrize("who", ["read", "apply", "nobody"])
def test_only_who_may_write_changes_anything(callers: Callers, plane: ControlPlane, who: str) -> None:
    assert callers[who]("POST", "/v1/events", JOIN).status in (401, 403)
    assert plane.revision == 0
    assert callers["write"]("POST", "/v1/events", JOIN).status == 200
    assert plane.revision == 1


def test_an_event_with_a_known_id_changes_nothing_even_after_a_restart(
    callers: Callers, open_plane: Any
) -> None:
    first = callers["write"]("POST", "/v1/events", JOIN).json
    assert (first["events"], first["repeated"]) == (1, 0)
    again = callers["write"]("POST", "/v1/events", [JOIN, {**JOIN, "node": "other"}]).json
    assert (again["events"], again["repeated"], again["revision"]) == (0, 2, 1)
    later = open_plane()
    assert later.revision == 1
    assert later.summary()["nodes"] == first["nodes"]


def test_an_idempotency_key_makes_ids(callers: Callers) -> None:
    bare = [{"event": "join", "node": name} for name in ("x", "y")]
    sent = [callers["write"]("POST", "/v1/events", bare, idempotency_key="k").json for _ in range(2)]
    assert [(one["events"], one["repeated"]) for one in sent] == [(2, 0), (0, 2)]


def test_a_key_that_comes_with_another_body_is_refused_also_after_a_restart(
    plane: ControlPlane, open_plane: Any
) -> None:
    def send(own: ControlPlane, node: str, secrets: dict[str, str]) -> Any:
        body = {"event": "join", "node": node}
        return callers_of(own, secrets)["write"]("POST", "/v1/events", body, idempotency_key="k:1")

    secrets = secrets_of(plane)
    assert send(plane, "x", secrets).json["events"] == 1
    assert send(plane, "x", secrets).json["repeated"] == 1
    for _ in range(2):
        answer = send(plane, "y", secrets)
        assert answer.status == 422
        assert "'k:1' was given for a request with another body" in answer.json["detail"]
        assert plane.revision == 1
        plane = open_plane()


def test_a_key_whose_events_were_all_refused_may_be_used_again(callers: Callers) -> None:
    def send(event: str) -> int:
        body = {"event": event, "node": "x"}
        return callers["write"]("POST", "/v1/events", body, idempotency_key="k").status

    assert [send("leave"), send("join")] == [409, 200]


def test_events_that_contradict_are_refused_with_reasons_and_the_others_applied(callers: Callers) -> None:
    write = callers["write"]
    lines = b'{"event":"leave","node":"nope","id":"a"}\n\n{"event":"leave","node":"n00","id":"b"}\n'
    answer = write("POST", "/v1/events", parts=[lines[:30], lines[30:]], content_type="application/x-ndjson")
    assert answer.status == 200
    assert answer.json["events"] == 1
    assert [one["event"] for one in answer.json["refused"]] == [0]
    assert "not in the overlay" in answer.json["refused"][0]["reason"]
    alone = write("POST", "/v1/events", {"event": "leave", "node": "nope", "id": "a"})
    assert alone.status == 409
    assert "not in the overlay" in alone.json["detail"]
    # A refused event is not remembered: it may be sent again when it fits.
    assert write("POST", "/v1/events", {"event": "join", "node": "nope"}).status == 200
    assert write("POST", "/v1/events", {"event": "leave", "node": "nope", "id": "a"}).json["events"] == 1


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b'{"event":"join","node":"x"', "application/json", 400),
        (b'{"event":"join","node":"\xff\xfe"}', "application/json", 400),
        (b'{"event":"join","node":"\\ud800"}', "application/json", 400),
        (b'{"event":"join","node":"x","at":NaN}', "application/json", 400),
        (b'{"event":"join","node":"x","at":1e400}', "application/json", 400),
        (b'{"event":"fly","node":"x"}', "application/json", 400),
        (b'{"event":"join","node":""}', "application/json", 400),
        (b'{"event":"join","node":"x","topics":"t"}', "application/json", 400),
        (b"[" * 15_000, "application/json", 400),
        (b"[]", "application/json", 400),
        (b"null", "application/json", 400),
        (b"", "application/json", 400),
        (b'{"event":"join","node":"x"}\n{', "application/x-ndjson", 400),
        (b'{"event":"join","node":"x"}\n' * 51, "application/x-ndjson", 413),
        (b'{"event":"join","node":"x"}', "text/plain", 415),
        (b'{"event":"join","node":"x"}', "application/json; charset=latin-1", 415),
    ],
)
def test_what_is_no_event_is_refused_and_nothing_changes(
    still: Callers, body: bytes, kind: str, status: int
) -> None:
    answer = still["write"]("POST", "/v1/events", parts=[body], content_type=kind)
    assert answer.status == status, answer.body
    check("Problem", answer.json)
    assert still["read"]("GET", "/readyz").json["revision"] == 0


def test_a_body_that_is_too_large_is_refused(still: Callers) -> None:
    write = still["write"]
    told = {"content_type": "application/json"}
    assert write("POST", "/v1/events", parts=[b""], content_length=str(10**9), **told).status == 413
    assert write("POST", "/v1/events", parts=[b""], content_length="9" * 40, **told).status == 413
    assert write("POST", "/v1/events", parts=[b" " * 5_000] * 5, **told).status == 413
    assert still["read"]("GET", "/readyz").json["revision"] == 0


def test_a_tag_guards_against_changes_in_between(callers: Callers) -> None:
    write = callers["write"]
    seen = write("GET", "/v1/overlay").headers["etag"]
    assert write("GET", "/v1/overlay", if_none_match=seen).status == 304
    first = write("POST", "/v1/events", JOIN, if_match=seen)
    assert first.status == 200
    late = write("POST", "/v1/events", {"event": "leave", "node": "n00"}, if_match=seen)
    assert late.status == 412
    assert write("POST", "/v1/events", {"event": "leave", "node": "n00"}, if_match="no tag").status == 400
    assert write("GET", "/v1/overlay").headers["etag"] == first.headers["etag"] != seen


@pytest.mark.parametrize(
    ("path", "key"), [("/v1/nodes", "nodes"), ("/v1/topics", "topics"), ("/v1/links", "links")]
)
def test_pages_together_have_everything_once(still: Callers, overlay: Overlay, path: str, key: str) -> None:
    found: list[Any] = []
    query = "?limit=5"
    while True:
        page = still["read"]("GET", path + query).json
        found += page[key]
        if page["next"] is None:
            break
        query = f"?limit=5&after={page['next'].replace('/', '%2F')}"
    names = overlay.interests.nodes.to_pylist()
    expected = {
        "nodes": names,
        "topics": overlay.interests.topics.to_pylist(),
        "links": [[names[a], names[b]] for a, b in overlay.edges.tolist()],
    }[key]
    assert [one if key == "links" else one["name"] for one in found] == expected


def test_search_ignores_case(still: Callers) -> None:
    found = still["read"]("GET", "/v1/nodes?search=N1").json["nodes"]
    assert [one["name"] for one in found] == [f"n1{digit}" for digit in range(10)]


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=1001", "limit=x", "limit=1&limit=2", "nope=1", "limit=-1", "limit=%C2%B2"]
)
def test_parameters_that_are_wrong_are_refused(still: Callers, query: str) -> None:
    assert still["read"]("GET", f"/v1/nodes?{query}").status == 400


def test_a_node_has_its_topics_and_neighbours(still: Callers, overlay: Overlay) -> None:
    graph = overlay.to_networkx()
    node = still["read"]("GET", "/v1/nodes/n03").json
    assert node["neighbours"] == sorted(graph["n03"])
    topic = still["read"]("GET", f"/v1/topics/{node['topics'][0]}").json
    assert "n03" in topic["subscribers"]
    inside = graph.subgraph(topic["subscribers"])
    assert sorted(map(tuple, topic["links"])) == sorted(tuple(sorted(link)) for link in inside.edges)


@pytest.mark.parametrize("path", ["/v1/nodes/nope", "/v1/topics/", "/v1/nope", "/v2", "/v1/nodes/%ff%fe"])
def test_what_is_not_there_is_not_found(still: Callers, path: str) -> None:
    answer = still["read"]("GET", path)
    assert answer.status == 404
    check("Problem", answer.json)


def test_what_if_is_what_then_happens_and_changes_nothing(callers: Callers, overlay: Overlay) -> None:
    write = callers["write"]
    graph = overlay.to_networkx()
    busiest = max(graph, key=graph.degree)
    tried = write("POST", "/v1/what-if", {"nodes": [busiest]}).json
    assert write("GET", "/v1/overlay").json["revision"] == 0
    parts = {}
    for topic in write("GET", f"/v1/nodes/{busiest}").json["topics"]:
        others = set(write("GET", f"/v1/topics/{topic}").json["subscribers"]) - {busiest}
        parts[topic] = nx.number_connected_components(graph.subgraph(others))
    assert tried["cut"] == {topic: number for topic, number in parts.items() if number > 1} != {}
    done = write("POST", "/v1/events", {"event": "leave", "node": busiest}).json
    assert (tried["opened"], tried["closed"]) == (done["opened"], done["closed"])


@pytest.mark.parametrize(
    "body", [{}, [], {"nodes": []}, {"nodes": [1]}, {"nodes": "n00"}, {"nodes": ["n00"] * 101}]
)
def test_what_if_of_what_is_no_list_of_nodes_is_refused(still: Callers, body: Any) -> None:
    assert still["read"]("POST", "/v1/what-if", body).status == 400
    assert still["read"]("POST", "/v1/what-if", {"nodes": ["nope"]}).status == 404


def test_metrics_count_what_happened(callers: Callers) -> None:
    write = callers["write"]
    write("POST", "/v1/events", JOIN)
    write("POST", "/v1/events", JOIN)
    write("POST", "/v1/events", {"event": "leave", "node": "nope"})
    text = write("GET", "/metrics").body.decode()
    numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert numbers["meshwright_nodes"] == "25"
    for outcome in ("applied", "repeated", "refused"):
        assert numbers[f'meshwright_events_total{{outcome="{outcome}"}}'] == "1"
    assert numbers["meshwright_repair_seconds_count"] == "1"
    assert float(numbers["meshwright_drift_from_bound"]) >= 1
    assert numbers["meshwright_disconnected_topics"] == "0"
    assert all(re.fullmatch(r"meshwright_\w+(\{\w+=\"[^\"]+\"\})?", name) for name in numbers)


def test_a_topic_has_the_tree_that_deploy_would_take(still: Callers, overlay: Overlay) -> None:
    trees, interests = topic_trees(overlay), overlay.interests
    names = interests.nodes.to_pylist()
    for at, topic in enumerate(interests.topics.to_pylist()):
        own = slice(trees.topic_indptr[at], trees.topic_indptr[at + 1])
        pairs = zip(trees.parents[own].tolist(), trees.nodes[own].tolist(), strict=True)
        expected = {(names[parent], names[node]) for parent, node in pairs if parent >= 0}
        found = still["read"]("GET", f"/v1/topics/{topic}").json
        assert set(map(tuple, found["tree"])) == expected
        assert len(expected) == len(found["subscribers"]) - 1


def test_backups_share_topics_with_a_node_and_to_ask_for_them_changes_nothing(callers: Callers) -> None:
    found = callers["read"]("GET", "/v1/nodes/n03").json
    others = [callers["read"]("GET", f"/v1/nodes/{name}").json for name in found["backups"]]
    assert "n03" not in found["backups"]
    assert {topic for own in others for topic in own["topics"]} >= {*found["topics"]}
    assert all({*own["topics"]} & {*found["topics"]} for own in others)
    assert callers["read"]("GET", "/v1/nodes/n03").json == found


def test_nobody_is_told_so_without_an_error(still: Callers) -> None:
    assert still["nobody"]("GET", "/v1/session").status == 204
    assert still["nobody"]("GET", "/v1/session", cookie="meshwright_8470=x").status == 401
    assert still["read"]("GET", "/v1/session").json["roles"] == ["read"]


def test_a_clock_that_jumps_loses_no_event_and_ends_sessions_at_most(
    plane: ControlPlane, open_plane: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = secrets_of(plane)
    write, begin = callers_of(plane, secrets)["write"], time.time()
    for number, jump in enumerate((0, -(10**8), 10**8, 0)):
        monkeypatch.setattr(time, "time", lambda jump=jump: begin + jump)
        answer = write("POST", "/v1/events", {"event": "join", "node": f"x{number}", "topics": ["t/0"]})
        assert (answer.status, answer.json["events"]) == (200, 1)
        session = write("POST", "/v1/session", {"token": secrets["write"]}, origin=f"http://{HOST}")
        cookie = session.headers["set-cookie"].partition(";")[0]
        assert callers_of(plane, secrets)["nobody"]("GET", "/v1/overlay", cookie=cookie).status == 200
    later = open_plane()
    assert later.revision == 4
    steps = callers_of(later, secrets)["read"]("GET", "/v1/changes?since=0").json["steps"]
    assert [step["at"] - int(begin) for step in steps] == [0, -(10**8), 10**8, 0]
