"""A small form of `benchmarks.fuzz_api`: no request makes an error or gets in without a token."""

from pathlib import Path

from benchmarks.fuzz_api import run


def test_no_request_breaks_the_api(tmp_path: Path) -> None:
    counts, wrong = run(tmp_path, 400, seed=1)
    assert wrong == []
    assert {"nobody 401", "read 200", "read 403", "write 200", "write 400", "apply 200"} <= set(counts)
