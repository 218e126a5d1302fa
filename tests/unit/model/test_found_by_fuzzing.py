"""Inputs that a fuzzer found, in their smallest form: each ended in a traceback, or lost rows in silence."""

import base64
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from meshwright import Costs, Interests, Overlay
from meshwright.model.events import read_events
from meshwright.model.sessions import read_sessions
from meshwright.runtime.errors import InputError

# A table of events whose footer states nine rows, and of which Arrow gives none.
EVENTS = (
    b"eNqVVM1u2kAQ3l28rlNBRazsypZ84BAsKiUpRoCUih4WSICWqoDSRIl6wdSiURugQOCeJ8gD9Nhj1WMOOVQ99Ngn6FP0Ebqz"
    b"NqE0XDryzozm2/nmx5ZbouMxjV1j9qbJTIZMhOoIJTDCCQMReWLyaPJQefSEUXqAQjEiyxBLse0dmZtkOtMdy1gg1sJBHGXW"
    b"RDc3pUqWiNQm1mgydzQDTHazw7JNaaAZfkRl7EPQnQUb0plc+pPe+NwPGGZbzFqWLaLMxh1oUZWgCjzcDgtgegPUz1m1yeKK"
    b"Or0FiJ+jOspSXSvGsJn3PBUrKO3J2RyWWilC/KJF/KyifpQPqWO0nj+OQed2s4AsfdJ7F1x0mS4DaWKR7hSxuHRoMAsG0zRq"
    b"OjAlRLTB8G0QBbhpO3bJRY5kKSA9aUMiI9zkPwn/RNwr7Br/t1x7B3bICLyipDSlx7rtwuAIqsSjKmFXqtBXzG+w+5u4n4nz"
    b"zx7vcfErbK+jUyMptu+Yf8Pureb+iq0u7j5X5o6K31Juuga/psh2rLjodF6dPA33aX0hT0D2+0JKW4TyQoi5KPfFoRB9UVGQ"
    b"KJeFeAlORYiGCiytCKHyfOGFVJUJUKvcjgqeLu8rOQDlX+y/P1OVq6dw32tJBUzt1ypaF3+3JvPBrR3nzk4K2YjvIMLbAMr+"
    b"akL0RHUJhtJurOUTMF/tELgaMHdFXemvlIvkGbJSo+7442Uw3e2NRrvd8Xg4T82C8eR8OEjlinvZPc8uyQ8vfNAP+Sm35L/g"
    b"D5qnrps="
)


def test_an_array_whose_header_does_not_end_is_refused(tmp_path):
    np.save(tmp_path / "m.npy", np.eye(3))
    whole = (tmp_path / "m.npy").read_bytes()
    (tmp_path / "m.npy").write_bytes(whole.replace(b"(3, 3)", b"(3, 3("))
    with pytest.raises(InputError, match=r"m\.npy can't be read as a numpy array"):
        Costs.from_npy(tmp_path / "m.npy")


def test_links_with_names_that_are_no_text_are_refused(tmp_path):
    letters = pa.array([b"n1", b"\xff\xfe"]).buffers()
    names = pa.Array.from_buffers(pa.string(), 2, letters)
    pq.write_table(pa.table({"source": names, "target": names}), tmp_path / "e.parquet")
    with pytest.raises(InputError, match="a name that is not UTF-8"):
        Overlay.from_parquet(Interests.from_pairs([("n1", "t")]), tmp_path / "e.parquet")


def test_a_table_of_events_that_gives_fewer_rows_than_it_states_is_refused(tmp_path):
    (tmp_path / "e.parquet").write_bytes(zlib.decompress(base64.b64decode(EVENTS)))
    with pytest.raises(InputError, match="its footer counts 9 rows, but it holds 0"):
        read_events(tmp_path / "e.parquet")


def test_a_column_that_is_a_line_break_is_named_in_one_line(tmp_path):
    (tmp_path / "s.csv").write_text('"\n')
    with pytest.raises(InputError, match=r"its columns are \\n") as caught:
        read_sessions(tmp_path / "s.csv")
    assert "\n" not in str(caught.value)


def test_a_column_of_places_with_a_line_break_is_named_in_one_line(tmp_path):
    (tmp_path / "p.csv").write_text('node,"l\nat",lon\nn,1,2\n')
    with pytest.raises(InputError, match=r"its columns are node, l\\nat, lon") as caught:
        Costs.coordinates(tmp_path / "p.csv", metric="great-circle", base=1, factor=1)
    assert "\n" not in str(caught.value)
