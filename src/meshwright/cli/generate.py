"""`meshwright generate`: made-up interests."""

import inspect
import typing
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright.cli.common import (
    Conf,
    Force,
    Json,
    Master,
    Seed,
    check_target,
    parse_settings,
    print_json,
    progress_bar,
    spark_command,
)
from meshwright.cli.options.groups import Engine, chosen_engine
from meshwright.runtime.errors import OptionError
from meshwright.runtime.places import local_path
from meshwright.runtime.wording import choose, counts

if TYPE_CHECKING:
    from meshwright.workloads.synthetic import Law

_WORKLOADS = ("unif", "zipf", "expo", "grid")
_OWN_FLAGS = {"nodes", "topics", "seed", "progress", "sizes"}
EPILOG = """**Examples**

`meshwright generate unif --nodes 10000 --topics 1000 --out workload`

`meshwright generate zipf --nodes 1000 --topics 100 --subscriptions 20 --set alpha=1.5 --out workload`

`meshwright generate unif --nodes 100000000 --no-names --engine spark --out workload`

`meshwright generate grid --nodes 100 --topics 16 --set torus=yes --out workload`
"""


def generate(
    workload: Annotated[str, typer.Argument(metavar="LAW", help="unif, zipf, expo or grid.")],
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The dataset to write.")],
    nodes: Annotated[int, typer.Option("--nodes", metavar="N", help="How many nodes.")] = 10_000,
    topics: Annotated[int, typer.Option("--topics", metavar="M", help="How many topics.")] = 1_000,
    subscriptions: Annotated[int | None, typer.Option(help="Give every node this many topics.")] = None,
    min_subscriptions: Annotated[
        int | None, typer.Option(help="For a power law of topics per node: the fewest topics of a node.")
    ] = None,
    max_subscriptions: Annotated[
        int | None, typer.Option(help="For a power law of topics per node: the most topics of a node.")
    ] = None,
    size_exponent: Annotated[
        float | None, typer.Option(help="The exponent of the power law of topics per node; by default 2.")
    ] = None,
    independent: Annotated[
        bool,
        typer.Option(
            "--independent",
            help="Draw each topic of a node independently. --subscriptions is then the average number of "
            "topics to aim for; zipf gives fewer.",
        ),
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Set an option of the law. Repeatable."),
    ] = None,
    names: Annotated[
        bool,
        typer.Option(
            "--names/--no-names",
            help="Write the table interests/, which has the interests by name for other programs.",
        ),
    ] = True,
    seed: Seed = 0,
    engine: Engine = "auto",
    master: Master = None,
    conf: Conf = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Make up interests from a statistical law, and write them as a dataset.

    With unif, all topics are equally popular. With zipf, the popularity of a topic is proportional to
    rank^-alpha, and with expo to exp(-decay·rank/topics). The rank of a topic is its place, the most popular
    topic first. With grid, nodes take the topics near them on a plane. Set the other options of a law with
    --set.
    """
    from meshwright import workloads
    from meshwright.workloads.synthetic import law_of

    if workload not in _WORKLOADS:
        raise OptionError(f"there is no workload {workload!r}; {choose(workload, _WORKLOADS)}")
    law = getattr(workloads, workload)
    sizes = {
        "subscriptions": subscriptions,
        "min_subscriptions": min_subscriptions,
        "max_subscriptions": max_subscriptions,
        "size_exponent": size_exponent,
        "independent": independent or None,
    }
    given = {name: value for name, value in sizes.items() if value is not None}
    if given and workload == "grid":
        raise OptionError(
            f"grid has no option {next(iter(given))}; use --set min_radius=… to change the topics per node"
        )
    options = given | parse_settings(settings, _own_options(law))
    made_by = {
        "command": f"generate {workload}",
        "options": {"nodes": nodes, "topics": topics, **options},
        "seed": seed,
    }
    drawn = None if workload == "grid" else law_of(workload, nodes, topics, seed, options)
    where = chosen_engine(engine, [out], master, conf, drawn is None or _fits_here(drawn))
    if where == "spark" and drawn is None:
        raise OptionError("grid is drawn in this process alone; use --engine local, or another law")
    check_target(out, force, [])
    if where == "spark" and drawn is not None:
        with spark_command(master, conf) as session:
            from meshwright.pipeline.generate import generate_on_spark
            from meshwright.pipeline.spark.storage import location

            how: dict[str, Any] = {"names": names, "force": force, "progress": progress_bar()}
            manifest = generate_on_spark(session, drawn, location(session, out), made_by, **how)
    else:
        from meshwright.model.storage.manifest import read_manifest

        begin = perf_counter()
        interests = law(nodes, topics, seed=seed, progress=progress_bar(), **options)
        made_by |= {"seconds": {"generate": round(perf_counter() - begin, 3)}}
        target = local_path(out)
        interests.write(target, force=force, made_by=made_by, names=names, progress=progress_bar())
        manifest = read_manifest(target)
    if as_json:
        told = {key: manifest[key] for key in ("command", "options", "seed", "seconds")}
        print_json({"out": out, **manifest["counts"], **told})
    else:
        print(f"{out}: {counts(manifest['counts'])}")


def _fits_here(law: "Law") -> bool:
    from meshwright.runtime.memory import has_room, needed

    return has_room(needed("generating", nodes=law.nodes, interests=law.expected_interests()))


def _own_options(law: Any) -> dict[str, Any]:
    """The options that this law has beside those that have a flag of their own."""
    hints = typing.get_type_hints(law)
    names = inspect.signature(law).parameters.keys() - _OWN_FLAGS
    return {name: hints[name] for name in names}
