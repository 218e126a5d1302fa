"""The corpus: small meshes as people configure them, what lint has to say of each, and what its brokers do.

A mesh is a folder of configurations in `meshes`, a file `NAME.conf` for each broker, and `expected.toml`:

    about     what the mesh is, in a sentence
    kind      mosquitto or nats
    findings  the rules that lint has to report, and no others
    says      words that a broker has to write into its log (optional)
    useless   a line without which the brokers do the same, as FILE:LINE (optional)
    listens   what those who listen subscribe to (optional; everything)
    publish   messages, each with the broker `at` which it is published, its `topic`, and the names under
              which it is `heard` at each broker: a name for each copy, `endless` if copies never end,
              `growing` if names also get longer and longer; nothing at brokers that are not listed

In a configuration, `@a@` stands for the port of broker a, `@a.leaf@` for another port of it, and `@here@` for
the folder. With NATS, `a:X` is user X at broker a.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

_PLACEHOLDER = re.compile(r"@([a-z][\w.]*)@")

Copies = list[str] | Literal["endless", "growing"]


class Publication(NamedTuple):
    """A message, and the copies of it that are heard at each broker."""

    at: str
    topic: str
    heard: Mapping[str, Copies]

    @property
    def ends(self) -> bool:
        return all(isinstance(copies, list) for copies in self.heard.values())


class Line(NamedTuple):
    """A line of a file, counted from 1."""

    file: str
    number: int


class Mesh(NamedTuple):
    """Brokers by their configurations, and what is expected of them and of lint."""

    name: str
    about: str
    kind: str
    findings: frozenset[str]
    publications: list[Publication]
    files: Mapping[str, str]
    """The text of each configuration by its path in the folder."""
    says: str | None
    useless: Line | None
    listens: str | None

    @property
    def brokers(self) -> list[str]:
        return [Path(file).stem for file in self.files if "/" not in file and file.endswith(".conf")]

    @property
    def ears(self) -> list[str]:
        """Where somebody listens if anything is published: at every broker, as every user that is named."""
        if not self.publications:
            return []
        named = {ear for each in self.publications for ear in (each.at, *each.heard)}
        return sorted(named | {*self.brokers} - {ear.partition(":")[0] for ear in named})

    @property
    def ports(self) -> list[str]:
        """What stands for ports in its configurations."""
        return sorted({*_PLACEHOLDER.findall("\n".join(self.files.values()))} - {"here"})

    def write(self, folder: Path, ports: Mapping[str, int]) -> None:
        """Write its configurations with these ports filled in."""
        values = {name: str(port) for name, port in ports.items()} | {"here": str(folder)}
        for file, text in self.files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(_PLACEHOLDER.sub(lambda found: values[found[1]], text))

    def without_useless_line(self) -> "Mesh":
        """The same mesh without the line that is expected to do nothing."""
        assert self.useless
        lines = self.files[self.useless.file].splitlines(keepends=True)
        del lines[self.useless.number - 1]
        files = {**self.files, self.useless.file: "".join(lines)}
        return self._replace(name=f"{self.name}-without-the-line", files=files)


def read(folder: Path) -> Mesh:
    """The mesh of a folder."""
    expected = tomllib.loads((folder / "expected.toml").read_text())
    publications = [Publication(**each) for each in expected.get("publish", [])]
    file, _, number = expected.get("useless", "").partition(":")
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "expected.toml")
    return Mesh(
        name=folder.name,
        about=expected["about"],
        kind=expected["kind"],
        findings=frozenset(expected["findings"]),
        publications=publications,
        files={str(path.relative_to(folder)): path.read_text() for path in files},
        says=expected.get("says"),
        useless=Line(file, int(number)) if number else None,
        listens=expected.get("listens"),
    )


CORPUS = [read(path.parent) for path in sorted(Path(__file__).parent.glob("meshes/*/expected.toml"))]
