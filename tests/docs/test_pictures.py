"""The pictures of the architecture page show the project as it is."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def pictures() -> ModuleType:
    spec = spec_from_file_location("pictures", DOCS / "pictures.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_are_those_that_the_script_draws(pictures: ModuleType) -> None:
    for name, text in pictures.draw_all().items():
        assert (DOCS / "images" / name).read_text() == text, f"{name} is old; run: python docs/pictures.py"


def test_the_picture_of_the_layers_has_every_package(pictures: ModuleType) -> None:
    source = DOCS.parent / "src" / "meshwright"
    found = {path.stem for path in source.iterdir() if path.is_dir() or path.suffix == ".py"}
    drawn = {name for row in pictures.layers() for name in row}
    assert drawn == found - {"__init__", "__main__", "__pycache__"}
