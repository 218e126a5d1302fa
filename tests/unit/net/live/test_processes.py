import subprocess
import sys

import pytest

from tests.patience import PATIENCE

SCRIPT = """
import signal, threading, time
from meshwright.net.live.processes import Processes, _interrupts_held_back

end = threading.Event()
other = threading.Thread(target=end.wait, daemon=True)
other.start()
reached = 0
try:
    with _interrupts_held_back():
        signal.pthread_kill({thread}.ident, signal.SIGINT)
        for reached in range(1, 101):
            time.sleep(0.005)
except KeyboardInterrupt:
    print("interrupted after", reached)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
"""


@pytest.mark.parametrize("thread", ["other", "threading.main_thread()"])
def test_an_interrupt_waits_until_processes_have_their_orders_whichever_thread_takes_it(thread):
    assert output_of(SCRIPT.format(thread=thread)) == "interrupted after 100\n"


def test_processes_start_from_any_thread():
    script = """
import threading
from meshwright.net.live.processes import Processes

thread = threading.Thread(target=lambda: print(Processes([]).ask("report")))
thread.start()
thread.join()
"""
    assert output_of(script) == "[]\n"


def output_of(script):
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    return ran.stdout + ran.stderr
