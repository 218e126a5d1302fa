import pytest

from meshwright.pipeline.ingest.inputs import format_by_name
from meshwright.pipeline.ingest.layouts import first_line_layout
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.runtime.errors import InputError, OptionError


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.csv", "csv"),
        ("/x.y/A.CSV.GZ", "csv"),
        ("a.tsv.bz2", "tsv"),
        ("a.jsonl", "jsonl"),
        ("s3a://b/a.2026.ndjson.gz", "jsonl"),
        ("a.json", "jsonl"),
        ("part-0.zstd.parquet", "parquet"),
        ("ego.txt.gz", "edges"),
        ("edges", "edges"),
        ("v1.2/edges.dat", "edges"),
    ],
)
def test_the_name_of_a_file_says_its_format(path, expected):
    assert format_by_name(path) == expected


@pytest.mark.parametrize("path", ["a.csv.7z", "a.csv.xz", "a.tar"])
def test_what_can_not_be_unpacked_is_refused_by_name(path):
    with pytest.raises(InputError, match="unpack the file, or compress it with gzip"):
        format_by_name(path)


def layout(begin, format="csv", **options):
    found = first_line_layout("f", begin, format, IngestOptions(relation="pairs", **options))
    return found.columns, found.width, found.header


def test_columns_are_found_by_the_names_in_the_header():
    assert layout(b'"at",topic,node\n1,t,n\n') == ((2, 1), 3, 1)
    assert layout(b"\xef\xbb\xbf\r\nnode,topic\r\n") == ((0, 1), 2, 2)
    assert layout(b"b;a\n", columns=("a", "b"), delimiter=";") == ((1, 0), 2, 1)
    assert layout(b"b\ta", "tsv", columns=("a", "b")) == ((1, 0), 2, 1)


def test_positions_mean_that_there_is_no_header_unless_one_is_said_to_be_there():
    assert layout(b"x,y,z\n", columns=(3, 1)) == ((2, 0), 3, 0)
    assert layout(b"x,y,z\n", columns=(3, 1), header=True) == ((2, 0), 3, 1)


def test_an_edge_list_may_have_a_header_below_its_comments():
    begin = b"# made today\n\nfrom to weight\n1 2 3\n"
    assert layout(begin, "edges", header=True) == ((0, 1), 3, 3)
    assert layout(begin, "edges", columns=("weight", "from")) == ((2, 0), 3, 3)


def test_a_file_of_blank_lines_has_no_columns_and_is_no_fault():
    assert layout(b"\n\n") == ((0, 1), 0, 0)


@pytest.mark.parametrize(
    ("options", "format"),
    [
        ({"delimiter": ";"}, "jsonl"),
        ({"header": True}, "parquet"),
        ({"columns": (1, 2)}, "jsonl"),
        ({"header": False}, "csv"),
        ({"header": False, "columns": ("a", "b")}, "edges"),
    ],
)
def test_options_that_a_format_does_not_have_are_refused(options, format):
    with pytest.raises(OptionError):
        IngestOptions(relation="pairs", **options).check_format(format)


def test_an_edge_list_needs_no_header():
    IngestOptions(relation="pairs", header=False).check_format("edges")
