"""Contents of reports made from real small builds, as a run would fill them from its files."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

import meshwright as mw
from meshwright.report.contents import Contents, Drawing, Quality
from meshwright.report.overlay import choose_drawing, edges_inside
from meshwright.report.summary import alternatives


def report_of(
    interests: mw.Interests, algorithm: str = "gm", title: str = "example", **options: Any
) -> Contents:
    """The report of an overlay that is built here."""
    overlay = mw.build(interests, algorithm, **options)
    return report_of_overlay(overlay, algorithm, title)


def report_of_overlay(overlay: mw.Overlay, algorithm: str, title: str = "example") -> Contents:
    found = mw.evaluate(overlay)
    profile = profile_of(overlay.interests)
    evaluation = evaluation_of(found)
    return Contents(
        title=title,
        evaluation=evaluation,
        parameters={
            "command": "meshwright run likes.csv --as pairs --algorithm gm --out out",
            "inputs": ["likes.csv"],
            "relation": "pairs",
            "algorithm": algorithm,
            "options": overlay.facts.get("options", {}),
            "seed": 0,
            "master": "local[*]",
            "versions": {"meshwright": "0.1.0", "python": "3.13.0"},
        },
        seconds={"ingest": 3.25, "profile": 0.8, "build": 61.5, "evaluate": 0.02},
        quality=quality_of(overlay.interests),
        profile=profile,
        alternatives=alternatives(evaluation, profile, algorithm),
        drawing=drawing_of(overlay),
        facts={
            key: value for key, value in overlay.facts.items() if key not in ("algorithm", "options", "seed")
        },
    )


def evaluation_of(found: mw.Evaluation) -> dict[str, Any]:
    diameters = found.diameter_per_topic
    assert diameters is not None
    values, topics = np.unique(diameters[found.components_per_topic == 1], return_counts=True)
    return found.to_json() | {
        "degree_distribution": found.degree_distribution().tolist(),
        "diameter_distribution": np.column_stack([values, topics]).tolist(),
        "dangerous_nodes": found.distributions()["dangerous_nodes"],
        "view_distributions": found.distributions().get("view_distributions"),
        "disconnected_topic_components": found.disconnected_topic_components(),
    }


def profile_of(interests: mw.Interests, most_topics: int = 400, exponent: bool = True) -> dict[str, Any]:
    """The keys of a profile; the exponents are rough, since only their drawing is looked at here."""
    subscribers = np.diff(interests.topic_indptr)
    popular = np.lexsort((np.arange(len(subscribers)), -subscribers))
    chosen = np.sort(popular[:most_topics])
    matrix = np.zeros((interests.node_count, len(chosen)))
    for column, topic in enumerate(chosen.tolist()):
        begin, end = interests.topic_indptr[topic : topic + 2]
        matrix[interests.node_ids[begin:end], column] = 1
    spread = matrix.std(axis=0) if len(matrix) else np.zeros(len(chosen))
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = (matrix - matrix.mean(axis=0)) / spread if len(matrix) else matrix
        correlated = np.nan_to_num(scaled.T @ scaled / max(1, interests.node_count))
    names = interests.topics.to_pylist()
    return {
        "nodes": interests.node_count,
        "topics": interests.topic_count,
        "interests": len(interests),
        "subscribers_per_topic": _distribution(subscribers, exponent),
        "topics_per_node": _distribution(np.diff(interests.indptr), exponent),
        "correlation": {
            "topics": [names[topic] for topic in chosen.tolist()],
            "matrix": correlated.round(4).tolist(),
            "sampled": len(chosen) < interests.topic_count,
        },
        "popular_topics": [[names[topic], int(subscribers[topic])] for topic in popular[:10].tolist()],
    }


def _distribution(sizes: np.ndarray, exponent: bool) -> dict[str, Any]:
    values, counts = np.unique(sizes, return_counts=True)
    tail = sizes[sizes >= 2]
    fitted = exponent and len(tail) > 50
    return {
        "values": values.tolist(),
        "counts": counts.tolist(),
        "exponent": 1 + len(tail) / float(np.log(tail / 1.5).sum()) if fitted else None,
        "x_min": 2 if fitted else None,
    }


def quality_of(interests: mw.Interests) -> Quality:
    return Quality(
        rows=len(interests) + 5,
        rejected={"2 columns, where 3 are expected": 2, "the topic is empty": 1},
        rejected_examples=[
            {"file": "likes.csv", "line": 7, "reason": "the topic is empty", "text": "b7,"},
            {"file": "likes.csv", "line": 12, "reason": "2 columns, where 3 are expected", "text": "b9"},
        ],
        duplicates=2,
        look_alikes=1,
        look_alike_examples=[["News", "news "]],
        nodes_without_topics=int(np.count_nonzero(np.diff(interests.indptr) == 0)),
        topics_of_one=int(np.count_nonzero(np.diff(interests.topic_indptr) == 1)),
        files=1,
    )


def drawing_of(overlay: mw.Overlay) -> Drawing:
    names = overlay.interests.nodes
    return choose_drawing(
        overlay.degrees(), edges_inside(overlay.edges), lambda ids: [names[at].as_py() for at in ids.tolist()]
    )


def through_json(contents: Contents) -> Contents:
    """The same contents after all of it was a file."""
    values: Mapping[str, Any] = json.loads(json.dumps(asdict(contents)))
    from meshwright.report.contents import Alternative

    return Contents(
        **{
            **values,
            "quality": Quality(**values["quality"]),
            "drawing": Drawing(**values["drawing"]),
            "alternatives": [Alternative(**other) for other in values["alternatives"]],
        }
    )
