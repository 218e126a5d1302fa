"""How many files a process may open, tried in a process of its own."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource
from meshwright.runtime.errors import CapacityError
from meshwright.net.live.sockets import allow_files

resource.setrlimit(resource.RLIMIT_NOFILE, (100, 400))
try:
    allow_files({needed}, {at_most})
except CapacityError as error:
    print(error)
else:
    print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.parametrize(
    ("needed", "at_most", "says"),
    [
        (10, 20, "100"),
        (10, 200, "264"),
        (10, 10_000, "400"),
        (336, 336, "400"),
        (337, 337, "a process needs about 401 file descriptors, but the system allows it 400; spread the"),
    ],
)
def test_the_soft_limit_is_raised_as_far_as_needed_and_the_hard_one_is_an_error(needed, at_most, says):
    program = PROGRAM.format(needed=needed, at_most=at_most)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(says)
