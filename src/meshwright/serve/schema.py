"""The description of the API in OpenAPI 3.1, from tables of operations and of what they answer."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from meshwright.model.events import KINDS
from meshwright.serve.tokens import APPLY, READ, WRITE

Schema = dict[str, Any]


def _object(**properties: Schema) -> Schema:
    """An object that has all these properties."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _or_null(kind: str, words: str) -> Schema:
    return {"type": [kind, "null"], "description": words}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_TEXT: Schema = {"type": "string"}
_NAME: Schema = {"type": "string", "minLength": 1}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_NUMBER: Schema = {"type": "number"}
_YES: Schema = {"type": "boolean"}
_REVISION: Schema = {"type": "integer", "description": "How many events and relinks there were before."}
_BEFORE: Schema = {"type": "integer", "minimum": -1, "description": "The revision before."}
_LINK: Schema = {"type": "array", "items": _NAME, "minItems": 2, "maxItems": 2}
_LINKS = _list(_LINK)
_NEXT = _or_null("string", "Give it as `after` to get the next page; null at the end.")
_ROLES = _list({"type": "string", "enum": ["read", "write", "apply"]})

_REFUSED = _list(_object(event={**_COUNT, "description": "Its place in the request, from 0."}, reason=_TEXT))

SCHEMAS: Mapping[str, Schema] = {
    "Problem": _object(type=_TEXT, title=_TEXT, status=_COUNT, detail=_TEXT),
    "Status": _object(status=_TEXT),
    "Event": {
        "type": "object",
        "properties": {
            "event": {"type": "string", "enum": list(KINDS)},
            "node": _NAME,
            "topics": {**_list(_NAME), "description": "Where topics are classes of filters: filters."},
            "at": {"type": "integer", "description": "When; the time of the server if it is missing."},
            "id": {
                **_NAME,
                "description": "An idempotency key: an event with the id of an applied one is skipped.",
            },
        },
        "required": ["event", "node"],
    },
    "Receipt": _object(
        since=_BEFORE,
        revision=_REVISION,
        tag=_TEXT,
        events={**_COUNT, "description": "How many were applied."},
        repeated={
            **_COUNT,
            "description": "How many were skipped, since one with their id was applied before.",
        },
        refused=_REFUSED,
        opened=_LINKS,
        closed=_LINKS,
        nodes=_COUNT,
        links=_COUNT,
    ),
    "Overlay": _object(
        revision=_REVISION,
        tag=_TEXT,
        nodes=_COUNT,
        topics=_COUNT,
        links=_COUNT,
        average_degree=_NUMBER,
        maximum_degree=_COUNT,
        cost=_or_null("number", "Of all links; null where links have no costs."),
        unprotected_topics=_COUNT,
        nodes_over_max_links=_COUNT,
        policy=_TEXT,
        resilience=_COUNT,
    ),
    "Evaluation": _object(
        revision=_REVISION,
        nodes=_COUNT,
        topics=_COUNT,
        interests=_COUNT,
        edges=_COUNT,
        average_degree=_NUMBER,
        maximum_degree=_COUNT,
        topic_connected=_YES,
        disconnected_topics=_COUNT,
        lower_bound_average_degree=_or_null("number", "No topic-connected overlay has less."),
        lower_bound_method=_or_null("string", "What proves it."),
        cut_nodes_topics={**_COUNT, "description": "Topics that some single failure would cut."},
    ),
    "Map": _object(
        revision=_REVISION,
        by={"type": "string", "enum": ["places", "links"], "description": "What positions come from."},
        side={**_COUNT, "description": "Positions are from 0 to this; by places, it is 360 degrees."},
        names=_list(_NAME),
        x=_list(_COUNT),
        y=_list(_COUNT),
        degrees=_list(_COUNT),
        links={
            "type": ["array", "null"],
            "items": _COUNT,
            "description": "Places of both ends among the names, link after link; null if there are many.",
        },
    ),
    "NodesPage": _object(
        revision=_REVISION, nodes=_list(_object(name=_NAME, topics=_COUNT, links=_COUNT)), next=_NEXT
    ),
    "TopicsPage": _object(
        revision=_REVISION, topics=_list(_object(name=_NAME, subscribers=_COUNT)), next=_NEXT
    ),
    "LinksPage": _object(revision=_REVISION, links=_LINKS, next=_NEXT),
    "Node": _object(
        revision=_REVISION,
        name=_NAME,
        topics=_list(_NAME),
        filters=_list(_NAME),
        neighbours=_list(_NAME),
        backups={
            "type": ["array", "null"],
            "items": _NAME,
            "description": "Who would replace it in a repair; null unless the policy is shadow.",
        },
        max_links=_or_null("integer", "Null where there is no limit."),
    ),
    "Topic": _object(
        revision=_REVISION,
        name=_NAME,
        subscribers=_list(_NAME),
        links=_LINKS,
        tree={
            **_LINKS,
            "description": "Of these links, those of a tree of shortest paths, from its root on.",
        },
    ),
    "Step": _object(
        since=_BEFORE,
        revision=_REVISION,
        at=_or_null("integer", "The time of its last event."),
        cause=_TEXT,
        events=_COUNT,
        opened=_LINKS,
        closed=_LINKS,
        nodes=_COUNT,
        links=_COUNT,
        maximum_degree=_COUNT,
        repair_seconds=_NUMBER,
    ),
    "Changes": _object(
        since=_BEFORE,
        revision={"type": "integer", "description": "After the last step; give it as `since` to go on."},
        latest=_REVISION,
        steps=_list(_ref("Step")),
    ),
    "WhatIf": _object(
        nodes=_list(_NAME),
        revision=_REVISION,
        cut={
            "type": "object",
            "additionalProperties": _COUNT,
            "description": "Topics that would be parted until the repair, and into how many parts.",
        },
        opened=_LINKS,
        closed=_LINKS,
        maximum_degree=_COUNT,
    ),
    "Fleet": _object(
        driver=_TEXT,
        brokers=_list(
            _object(
                name=_NAME,
                up=_or_null("boolean", "Whether it answers; null if it can't be looked at, or was not yet."),
                left={**_YES, "description": "Whether it was made to leave the overlay since it failed."},
            )
        ),
        links=_list(
            _object(
                opens=_NAME,
                to=_NAME,
                up=_or_null("boolean", "Whether the broker that opens it says that it is connected."),
                carries=_or_null("boolean", "Whether probes have crossed it in both directions."),
                milliseconds=_or_null("number", "How long the slower probe took."),
                astray={**_COUNT, "description": "Copies of probes at brokers that are not its ends."},
                reason={**_TEXT, "description": "Why something is not known."},
                silent={**_YES, "description": "It is up and carries nothing."},
            )
        ),
    ),
    "Plan": _object(
        driver=_TEXT,
        mode={"type": "string", "enum": ["apply", "approve"]},
        paused={**_YES, "description": "Whether the kill switch is pulled."},
        applying=_YES,
        plan=_or_null("string", "The plan that waits; null if brokers follow the overlay."),
        approved=_YES,
        applied=_or_null("string", "The plan that brokers follow."),
        opened=_LINKS,
        closed=_LINKS,
        changed={**_LINKS, "description": "Links over which something else will cross."},
        last_applied={
            "type": ["object", "null"],
            "properties": {
                "plan": _TEXT,
                "steps": {**_COUNT, "description": "How many files were brought."},
                "gap_seconds": {**_NUMBER, "description": "From the first closing to the last opening."},
                "seconds": _or_null("number", "From the look that found a change to its being applied."),
                "left_behind": {**_list(_NAME), "description": "Brokers that could not be reached."},
            },
        },
        troubles={**_list(_TEXT), "description": "What keeps the fleet from being looked after."},
    ),
    "Approval": _object(
        plan=_TEXT,
        approved=_YES,
        steps={
            "type": ["array", "null"],
            "items": _object(node=_NAME, closes=_YES, removes=_YES),
            "description": "In a dry run, the files that would be brought, in order.",
        },
        drift={
            "type": ["array", "null"],
            "items": _NAME,
            "description": "In a dry run, brokers whose files were changed by others.",
        },
    ),
    "Paused": _object(paused=_YES),
    "Session": _object(
        name=_TEXT, roles=_ROLES, fleet={**_YES, "description": "Whether brokers are looked after."}
    ),
}

_AFTER = ("after", "query", _TEXT, "Names after this one.")
_LIMIT = ("limit", "query", {"type": "integer", "minimum": 1, "maximum": 1000}, "At most so many.")
_SEARCH = ("search", "query", _TEXT, "Only names that contain this, in any case.")
_PAGED = (_AFTER, _LIMIT, _SEARCH)
_PATH_NAME = ("name", "path", _NAME, "The name, percent-encoded.")
_SINCE = ("since", "query", _BEFORE, "The revision that you have seen; -1 for the whole history.")

OPERATIONS: Mapping[tuple[str, str], Schema] = {
    ("get", "/healthz"): {"summary": "Is the process alive?", "answer": "Status", "role": None},
    ("get", "/readyz"): {
        "summary": "Does it take requests?",
        "answer": "Status",
        "role": None,
        "errors": (503,),
    },
    ("get", "/metrics"): {"summary": "Numbers for Prometheus.", "media": "text/plain"},
    ("get", "/openapi.json"): {"summary": "This description.", "media": "application/json", "role": None},
    ("get", "/v1/overlay"): {
        "summary": "The numbers of the overlay, and its tag.",
        "answer": "Overlay",
        "parameters": [("If-None-Match", "header", _TEXT, "A tag: 304 if the overlay still has it.")],
        "empty": {304: "The overlay has this tag."},
    },
    ("get", "/v1/evaluation"): {
        "summary": "Is every topic connected, how far is it from optimal? As measured last.",
        "answer": "Evaluation",
    },
    ("get", "/v1/map"): {
        "summary": "Where to draw nodes; they keep their positions while the overlay changes.",
        "answer": "Map",
    },
    ("get", "/v1/links"): {
        "summary": "Links, by pages of nodes.",
        "answer": "LinksPage",
        "parameters": _PAGED,
    },
    ("get", "/v1/nodes"): {"summary": "Nodes.", "answer": "NodesPage", "parameters": _PAGED},
    ("get", "/v1/nodes/{name}"): {
        "summary": "A node.",
        "answer": "Node",
        "parameters": [_PATH_NAME],
        "errors": (404,),
    },
    ("get", "/v1/topics"): {"summary": "Topics.", "answer": "TopicsPage", "parameters": _PAGED},
    ("get", "/v1/topics/{name}"): {
        "summary": "A topic.",
        "answer": "Topic",
        "parameters": [_PATH_NAME],
        "errors": (404,),
    },
    ("post", "/v1/events"): {
        "summary": "Apply events as one step. The answer comes when they are on disk.",
        "answer": "Receipt",
        "role": WRITE,
        "parameters": [
            ("If-Match", "header", _TEXT, "Apply them only if the overlay has this tag; else 412."),
            ("Idempotency-Key", "header", _NAME, "For events without an id; with another body, 422."),
        ],
        "body": {
            "application/json": {"oneOf": [_ref("Event"), _list(_ref("Event"))]},
            "application/x-ndjson": _TEXT,
        },
        "errors": (409, 412, 413, 415, 422, 503),
    },
    ("get", "/v1/changes"): {
        "summary": "Steps after a revision; as server-sent events with Accept: text/event-stream.",
        "answer": "Changes",
        "parameters": [
            _SINCE,
            _LIMIT,
            ("Last-Event-ID", "header", _TEXT, "In a stream, in place of since: the id of the last event."),
        ],
        "errors": (409,),
    },
    ("post", "/v1/what-if"): {
        "summary": "What would break if nodes failed, and how it would be repaired. Nothing is applied.",
        "answer": "WhatIf",
        "body": {"application/json": _object(nodes={**_list(_NAME), "minItems": 1, "maxItems": 100})},
        "errors": (404, 413, 415),
    },
    ("get", "/v1/fleet"): {
        "summary": "The brokers and the health of their links. 404 without an inventory.",
        "answer": "Fleet",
        "errors": (404,),
    },
    ("get", "/v1/plan"): {
        "summary": "The plan that waits, and how it differs from what brokers follow.",
        "answer": "Plan",
        "errors": (404,),
    },
    ("post", "/v1/plan/approve"): {
        "summary": "Let the plan that waits be applied, or try out what that would bring to whom.",
        "answer": "Approval",
        "role": APPLY,
        "body": {
            "application/json": {
                "type": "object",
                "properties": {"plan": _TEXT, "dry_run": _YES},
                "required": ["plan"],
            }
        },
        "errors": (404, 409, 413, 415, 503),
    },
    ("post", "/v1/plan/pause"): {
        "summary": "Pull the kill switch, so that nothing more is brought to brokers, or resume.",
        "answer": "Paused",
        "role": APPLY,
        "body": {"application/json": _object(paused=_YES)},
        "errors": (404, 413, 415, 503),
    },
    ("post", "/v1/session"): {
        "summary": "Swap a token for a cookie.",
        "answer": "Session",
        "role": None,
        "body": {"application/json": _object(token=_TEXT)},
        "errors": (401, 403, 413, 415, 429, 503),
    },
    ("get", "/v1/session"): {
        "summary": "Who am I?",
        "answer": "Session",
        "role": None,
        "empty": {204: "Nobody: there is neither a token nor a cookie."},
        "errors": (401, 429),
    },
    ("delete", "/v1/session"): {
        "summary": "End the session of the cookie.",
        "status": 204,
        "role": None,
        "errors": (403, 503),
    },
}


def openapi() -> Schema:
    """The whole description."""
    paths: dict[str, Schema] = {}
    for (method, path), given in OPERATIONS.items():
        paths.setdefault(path, {})[method] = _operation(method, path, given)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Meshwright",
            "version": version("meshwright"),
            "description": "The control plane of an overlay. Send Authorization: Bearer TOKEN.",
        },
        "paths": paths,
        "components": {
            "schemas": dict(SCHEMAS),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(method: str, path: str, given: Schema) -> Schema:
    role = given.get("role", READ)
    found: Schema = {
        "operationId": "_".join([method, *path.replace("{", "").replace("}", "").split("/")[1:]]),
        "summary": given["summary"],
        "security": [] if role is None else [{"token": [role]}],
        "responses": {
            str(given.get("status", 200)): _success(given),
            **{str(status): {"description": words} for status, words in given.get("empty", {}).items()},
            **{str(status): _failure(status) for status in _errors(role, given)},
        },
    }
    if "parameters" in given:
        found["parameters"] = [_parameter(*own) for own in given["parameters"]]
    if "body" in given:
        content = {media: {"schema": schema} for media, schema in given["body"].items()}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _success(given: Schema) -> Schema:
    if "answer" in given:
        return {
            "description": "Done.",
            "content": {"application/json": {"schema": _ref(given["answer"])}},
        }
    return {"description": "Done."} | ({"content": {given["media"]: {}}} if "media" in given else {})


def _errors(role: str | None, given: Schema) -> list[int]:
    common = (400, 421, 431) if role is None else (400, 401, 403, 421, 429, 431)
    return sorted({*common, *((408,) if "body" in given else ()), *given.get("errors", ())})


def _failure(status: int) -> Schema:
    return {
        "description": {409: "It contradicts what is there."}.get(status, "It is refused."),
        "content": {"application/problem+json": {"schema": _ref("Problem")}},
    }


def _parameter(name: str, place: str, schema: Schema, words: str) -> Schema:
    return {
        "name": name,
        "in": place,
        "required": place == "path",
        "schema": schema,
        "description": words,
    }
