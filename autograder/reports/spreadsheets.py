"""Tables as CSV files that a spreadsheet can open without running anything in them.

A spreadsheet takes text that begins with = + - or @ for a formula, even a student's name. Such text gets an apostrophe
in front, which is how spreadsheets mark text. Writes the files that are named.
"""

import csv
from pathlib import Path

SIGNS = tuple("=+-@＝＋－＠")


def write_table(path, columns, rows):
    """Write a table; None becomes an empty field."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([mark_text(value) for value in row] for row in rows)


def mark_text(value):
    """The value, with an apostrophe in front if it is text that a spreadsheet would run."""
    if isinstance(value, str) and (value.lstrip()[:1] in SIGNS or value[:1] in tuple("\t\r\n")):
        return f"'{value}"
    return value
