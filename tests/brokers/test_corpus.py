"""The corpus itself: what lint is to find is borne out by what the brokers do, and the other way round."""

import json
from collections import Counter

import pytest

from tests.brokers.corpus import CORPUS, Mesh, Publication
from tests.oracles_filters import matches

every_mesh = pytest.mark.parametrize("mesh", CORPUS, ids=lambda mesh: mesh.name)


def effects(mesh: Mesh) -> set[str]:
    """What goes wrong when the mesh runs."""
    heard = [copies for each in mesh.publications for copies in each.heard.values()]
    wrong = {
        "doubled": any(isinstance(copies, list) and max(Counter(copies).values()) > 1 for copies in heard),
        "lost": any(is_lost(mesh, each) for each in mesh.publications),
        "in vain": any(is_in_vain(mesh, each) for each in mesh.publications),
    }
    return {copies for copies in heard if isinstance(copies, str)} | {name for name in wrong if wrong[name]}


def is_lost(mesh: Mesh, message: Publication) -> bool:
    """Whether a message is wanted at some broker, and not heard there under a name that is wanted."""
    return any(
        wanted(mesh, broker, message.topic)
        and not any(wanted(mesh, broker, name) for name in names_heard(message, broker))
        for broker in mesh.brokers
    )


def names_heard(message: Publication, broker: str) -> list[str]:
    """The names under which a message is heard at a broker, by any user; its own where copies don't end."""
    return [
        name
        for ear, copies in message.heard.items()
        if ear.partition(":")[0] == broker
        for name in (copies if isinstance(copies, list) else [message.topic])
    ]


def is_in_vain(mesh: Mesh, message: Publication) -> bool:
    """Whether a message comes to other brokers, while it is known that nobody there wants it."""
    others = [broker for broker in mesh.brokers if broker != message.at.partition(":")[0]]
    came = [(broker, name) for broker in others for name in names_heard(message, broker)]
    return bool(wants(mesh)) and bool(came) and not any(wanted(mesh, broker, name) for broker, name in came)


def wanted(mesh: Mesh, broker: str, name: str) -> bool:
    dialect = {"mosquitto": "mqtt", "nats": "nats"}[mesh.kind]
    return any(matches(dialect, each, name) for each in wants(mesh).get(broker, []))


def wants(mesh: Mesh) -> dict[str, list[str]]:
    """The filters of clients that the inventory tells."""
    inventory = json.loads(mesh.files.get("inventory.json", '{"brokers": []}'))
    return {each["name"]: each["subscribes"] for each in inventory["brokers"] if "subscribes" in each}


# The effects of which a finding needs one.
BORNE_OUT_BY = {
    "loop": {"endless"},
    "growing-loop": {"growing"},
    "both-ends": {"endless", "doubled"},
    "doubled-delivery": {"doubled"},
    "overlapping-lines": {"doubled"},
    "unreachable": {"lost"},
    "carries-unwanted": {"in vain"},
}
SAID = {
    "refused-link": ("Loop detected", "same cluster name"),
    "unknown-directive": ("Unknown configuration variable",),
}


@every_mesh
def test_every_finding_is_borne_out(mesh: Mesh) -> None:
    for rule in mesh.findings - {"secret", "not-decided"}:
        if rule in SAID:
            assert mesh.says
            assert any(words in mesh.says for words in SAID[rule])
        elif rule == "useless-line":
            assert mesh.useless
        else:
            assert effects(mesh) & BORNE_OUT_BY[rule]


@every_mesh
def test_every_effect_is_found(mesh: Mesh) -> None:
    for effect in effects(mesh):
        assert any(effect in BORNE_OUT_BY.get(rule, ()) for rule in mesh.findings), effect
    assert not mesh.says or mesh.findings


@every_mesh
def test_every_mesh_publishes_or_is_refused(mesh: Mesh) -> None:
    assert mesh.publications or mesh.says


def test_the_corpus_is_large_and_has_every_rule() -> None:
    assert len(CORPUS) >= 40
    assert {rule for mesh in CORPUS for rule in mesh.findings} >= {
        *BORNE_OUT_BY,
        *SAID,
        "useless-line",
        "secret",
    }


def test_many_meshes_are_fine() -> None:
    assert sum(not mesh.findings for mesh in CORPUS) >= 20
