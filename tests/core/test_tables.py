"""Tables from people: what is understood, and what is refused with its place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention_core.topics.vectors.problem import parse_cells, parse_number, read_otherwise
from attention_core.topics.vectors.tables import TableError, read_csv

NUMBERS = arrays(np.float64, st.tuples(st.integers(1, 32), st.integers(1, 32)), elements=st.floats(-1e6, 1e6))


@given(NUMBERS)
def test_csv_brings_back_every_digit(values):
    text = "\n".join(",".join(map(repr, row)) for row in values.tolist())
    assert np.array_equal(read_csv(text).values, values)


@pytest.mark.parametrize(
    "text",
    [
        "1,0.5\n-2,3",
        "1\t0.5\r\n-2\t3\r\n",
        "1;0,5\n-2;3",
        "1 0.5\n-2 3",
        "a,b\n1,0.5\n-2,3",
        "x1,1,0.5\nx2,−2,3",
        "\ufeff1,0.5\n-2,3\n\n",
    ],
    ids=["comma", "spreadsheet", "decimal comma", "spaces", "headings", "labels", "byte order mark"],
)
def test_the_usual_ways_to_write_a_table_are_understood(text):
    assert read_csv(text.encode()).values.tolist() == [[1, 0.5], [-2, 3]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,2\n3\n4,5", ["Row 2", "1 numbers", "2"]),
        ("1,2\n3,abc", ["row 2, column 2", "abc", "not a number"]),
        ("1,2\nnan,4", ["row 2, column 1", "NaN"]),
        ("1,inf\n3,4", ["row 1, column 2", "infinite"]),
        ("", ["no rows"]),
        ("\n\n", ["no rows"]),
        ("1,,3\n1,2,3", ["row 1, column 2", "empty"]),
    ],
)
def test_a_bad_table_is_refused_with_its_place(text, words):
    with pytest.raises(TableError) as error:
        read_csv(text)
    assert all(word in str(error.value) for word in words)


def test_a_file_that_is_no_text_is_refused():
    with pytest.raises(TableError, match="UTF-8"):
        read_csv(b"\xff\xfe\x00\x01")


def test_several_bad_cells_are_counted():
    table, faults = parse_cells("X", [["1", "a"], ["b", "c"]])
    assert table is None
    assert "row 1, column 2" in faults[0].message
    assert "1 more" in faults[0].message


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("name,a,b\ncat,1,0.5\ndog,-2,3", ("cat", "dog")),
        ("a; b,1,0.5\nc; d,-2,3", ("a; b", "c; d")),
        ('label,x,y\n"a;b",1,0.5\nc,-2,3', ("a;b", "c")),
        ("a, b\t1\t0.5\nc; d\t-2\t3", ("a, b", "c; d")),
        ("a, b;1;0,5\nc, d;-2;3", ("a, b", "c, d")),
        ("x;1;0,5\ny;-2;3,0", ("x", "y")),
    ],
)
def test_labels_are_kept_and_may_hold_what_parts_cells_elsewhere(text, labels):
    table = read_csv(text)
    assert table.values.tolist() == [[1, 0.5], [-2, 3]]
    assert table.labels == labels


@pytest.mark.parametrize(("text", "value"), [("1.5", 1.5), (" 1,5 ", 1.5), ("−2", -2), ("1e-3", 0.001), ("+4", 4)])
def test_numbers_are_read_as_people_write_them(text, value):
    assert parse_number(text) == value


def test_a_number_read_otherwise_than_it_looks_is_named_with_its_cell():
    assert read_otherwise([["1.5", "−2"], ["abc", "1e3"]]) == ""
    assert read_otherwise([["1", "1,5"], ["٣", "1,2,3"]]) == (
        "row 1, column 2: “1,5” is read as 1.5; row 2, column 1: “٣” is read as 3."
    )
    assert read_csv("1,5;2,5\n0,5;1").notes == (
        "row 1, column 1: “1,5” is read as 1.5; row 1, column 2: “2,5” is read as 2.5; and 1 more.",
    )


@pytest.mark.parametrize("text", ["", "abc", "1_000", "nan", "inf", "-inf", "1.2.3", "1,2,3", "1e308", "-1e13"])
def test_what_is_no_finite_number_is_refused(text):
    with pytest.raises(ValueError, match="is"):
        parse_number(text)


def test_ten_thousand_rows_are_bounded_and_told():
    values, _, notes = vars(read_csv("1,2\n" * 10_000)).values()
    assert values.shape == (256, 2)
    assert "10,000 rows" in notes[0]
