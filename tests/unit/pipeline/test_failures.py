import pytest

from meshwright.pipeline.spark.failures import as_ours, cause_of, last_words, names_no_input
from meshwright.runtime.errors import CapacityError, DamagedFileError, DatasetError, InputError, SparkError

IN_PYTHON = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/x/build.py", line 8, in conquer
    raise InputError("row 3 is bad; mend it")
{last}
"""
IN_JAVA = """An error occurred while calling o83.collectToPython.
: org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file {file}.  SQLSTATE: KD001
	at org.apache.spark.sql.errors.QueryExecutionErrors$.cannotReadFilesError(QueryExecutionErrors.scala:920)
	at java.base/java.lang.Thread.run(Thread.java:840)
Caused by: {cause}
	at org.apache.hadoop.io.compress.DecompressorStream.decompress(DecompressorStream.java:165)
	... 19 more
"""  # noqa: E501
LOST = """An error occurred while calling o237.count.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 9.0 failed 1 times, \
most recent failure: Lost task 1.0 in stage 9.0 (TID 21) (10.0.0.1 executor driver): {cause}
	at org.apache.spark.api.python.BasePythonRunner.applyOrElse(PythonRunner.scala:1136)
Caused by: java.io.EOFException
	... 23 more
"""


def python(last):
    return IN_PYTHON.format(last=last)


def lost(cause):
    return LOST.format(cause=cause)


def told(said):
    error = as_ours(said)
    return type(error), str(error)


def test_an_error_of_ours_comes_out_of_a_task_as_it_was():
    said = python("meshwright.runtime.errors.InputError: row 3 is bad; mend it")
    assert told(said) == (InputError, "row 3 is bad; mend it")


def test_what_python_raises_in_a_task_is_told_by_its_last_line():
    said = python("ValueError: boom")
    assert told(said) == (SparkError, "a Spark job failed: ValueError: boom")


def test_a_name_that_is_no_error_of_ours_is_not_looked_for():
    said = python("meshwright.runtime.errors.Nothing: x")
    assert told(said) == (SparkError, "a Spark job failed: meshwright.runtime.errors.Nothing: x")


@pytest.mark.parametrize(
    "cause", ["java.io.EOFException: Unexpected end of input stream", "java.io.IOException: not a gzip file"]
)
def test_a_damaged_gzip_is_named_as_the_user_wrote_it(cause):
    kind, text = told(IN_JAVA.format(file="file:///data/a%20b.csv.gz", cause=cause))
    assert kind is DamagedFileError
    assert text == "/data/a b.csv.gz: a compressed file is cut off or damaged; fetch it again"


def test_a_file_elsewhere_keeps_its_address():
    kind, text = told(
        IN_JAVA.format(file="s3a://lake/x.parquet", cause="java.lang.RuntimeException: corrupt")
    )
    assert (kind, text.partition(": ")[0]) == (DamagedFileError, "s3a://lake/x.parquet")


@pytest.mark.parametrize(
    ("said", "kind", "text"),
    [
        ("[PATH_NOT_FOUND] Path does not exist: file:/a b/x*. SQLSTATE: 1", InputError, "/a b/x*: there is"),
        (lost("java.io.FileNotFoundException: /a b/x (Permission denied)"), InputError, "/a b/x: access"),
        (lost("java.io.IOException: No space left on device"), DatasetError, "the disk is full; free"),
        (lost("java.io.IOException: Mkdirs failed to create file:/o/t/_temporary/0 (exists=false, cwd=x)"),
         DatasetError, "/o/t: it can't be written"),
        (lost("org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)."),
         CapacityError, "a task's Python ran out of memory"),
        (lost("java.lang.OutOfMemoryError: Java heap space"), SparkError, "Spark ran out of memory; give"),
        (lost('java.io.IOException: Cannot run program "/x/python": error=2, No such file'), SparkError,
         "the workers can't start their Python"),
        (python("ModuleNotFoundError: No module named 'meshwright'"), SparkError, "the workers have no mesh"),
        (python("MemoryError: Unable to allocate 8.00 PiB"), CapacityError, "a task's Python ran out"),
        (': org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "abc"', InputError,
         "Spark has no driver"),
    ],
)  # fmt: skip
def test_what_a_user_can_mend_is_told_with_the_way_out(said, kind, text):
    found, line = told(said)
    assert found is kind
    assert line.startswith(text)
    assert "\n" not in line


def test_anything_else_is_told_by_its_deepest_cause():
    said = IN_JAVA.format(file="x", cause="java.lang.IllegalStateException: two of them")
    assert cause_of(said.replace("FAILED_READ_FILE", "OTHER")) == "IllegalStateException: two of them"
    assert cause_of("first\nsecond") == "first"
    assert cause_of("") == "no reason given"


def test_the_last_words_of_a_java_that_did_not_start_are_its_error():
    log = (
        "WARNING: Using incubator modules: jdk.incubator.vector\n"
        'Exception in thread "main" java.lang.IllegalArgumentException: bad setting\n'
        "\tat org.apache.spark.deploy.SparkSubmit.main(SparkSubmit.scala)\n"
    )
    assert last_words(log) == 'Exception in thread "main" java.lang.IllegalArgumentException: bad setting'
    assert last_words("Error: Could not create the Java Virtual Machine.\nbye\n").startswith(
        "Error: Could not"
    )
    assert last_words("one\ntwo\n") == "two"
    assert last_words("") == ""


@pytest.mark.parametrize(
    ("said", "is_so"),
    [
        (lost("java.lang.IllegalArgumentException: newLimit > capacity: (33 > 29)"), True),
        (lost("org.apache.parquet.io.ParquetDecodingException: could not read a page"), True),
        (IN_JAVA.format(file="file:///x.parquet", cause="java.io.IOException: boom"), False),
        (lost("java.lang.OutOfMemoryError: Java heap space"), False),
        (python("meshwright.runtime.errors.InputError: row 3 is bad; mend it"), False),
    ],
)
def test_messages_about_an_input_that_name_none_are_told_apart(said, is_so):
    assert names_no_input(said) is is_so


def test_a_remote_file_is_named_as_the_user_wrote_it():
    said = IN_JAVA.format(file="s3a://lake/a%20b.parquet", cause="java.io.IOException: boom")
    assert told(said)[1].startswith("s3a://lake/a b.parquet: ")
