"""What a build is told; and building a local dataset in this process, with a manifest as Spark writes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from meshwright import building, registry
from meshwright.construct.options import RobustOptions
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.model.storage.dataset import check_free
from meshwright.model.storage.manifest import FILES, read_manifest, without_files
from meshwright.pipeline.cost_files import CostFiles
from meshwright.runtime.places import Place
from meshwright.runtime.progress import Progress


@dataclass(frozen=True, kw_only=True)
class BuildPlan:
    """What builds an overlay, with which seed; refused when made if it can't.

    Attributes:
        algorithm: the name of a build.
        settings: its options by name.
        costs: where to read what links cost; they don't, unless given.
        reverse_delete: remove links that no topic needs after building.
        seed: of everything that is random.
    """

    algorithm: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    costs: CostFiles | None = None
    reverse_delete: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        self.options()
        registry.check_given(self.algorithm, self.costs is not None)

    def options(self) -> Any:
        """The options of the algorithm, checked."""
        return registry.find(self.algorithm, "build").make_options(self.settings)

    @property
    def works_on_the_whole(self) -> bool:
        """Whether what follows the algorithm needs the whole overlay at once."""
        options = self.options()
        return self.reverse_delete or (isinstance(options, RobustOptions) and options.asks_for_more)

    def build(self, interests: Interests, prices: Costs | None, progress: Progress | None) -> Overlay:
        """The overlay of interests in memory."""
        how: dict[str, Any] = {"reverse_delete": self.reverse_delete, "seed": self.seed, **self.settings}
        return building.build(interests, self.algorithm, costs=prices, progress=progress, **how)

    def made_by(self, engine: str, dataset: Place) -> dict[str, Any]:
        """What the manifest says about it."""
        return {
            "command": "build",
            "engine": engine,
            "algorithm": self.algorithm,
            "options": registry.how_made(self.algorithm, self.options(), self.seed)["options"],
            "reverse_delete": self.reverse_delete,
            "costs": None if self.costs is None else self.costs.given(),
            "seed": self.seed,
            "inputs": [str(dataset)],
        }


def has_names(manifest: Mapping[str, Any]) -> bool:
    """Whether an overlay of a dataset is to be written for other programs, too: if its interests are.

    That is all that is known of a dataset without a list of files.
    """
    files = manifest.get(FILES)
    return files is None or any(path.startswith("interests/") for path in files)


def build_here(
    dataset: Path, out: Path, plan: BuildPlan, *, force: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Build an overlay of a dataset's interests and write it to `out`; gives the manifest."""
    check_free(out, force)
    begin = perf_counter()
    interests = Interests.read(dataset, progress=progress)
    prices = None if plan.costs is None else plan.costs.load(interests)
    read = perf_counter()
    overlay = plan.build(interests, prices, progress)
    seconds = {"read": round(read - begin, 3), "build": round(perf_counter() - read, 3)}
    made_by = plan.made_by("local", dataset) | {"seconds": seconds}
    names = has_names(read_manifest(dataset))
    overlay.write(out, force=force, made_by=made_by, names=names, progress=progress)
    return without_files(read_manifest(out))
