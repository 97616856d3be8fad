"""The standing and a group's entries as JSON and as CSV. Functions of the store's objects; nothing is read here."""

import csv
import io

from autograder.competition.leaderboard import rules
from autograder.reports import spreadsheets
from course.competition import scene

NUMBERS = ("overall", "low", "high", "average", "kappa", "recall")
COLUMNS = ["part", "split", "rank", "public_rank", "group", "is_baseline", "entry", "received", "verification",
           "overall", "low", "high", "average", "kappa", "ranks", "seconds"]  # fmt: skip


def standing_as_json(standing):
    """A store's Standing as the API answers it, a dict."""
    return {
        "version": standing.version,
        "name": standing.settings.name,
        "part": standing.part,
        "final": standing.is_final,
        "frozen": standing.settings.frozen,
        "deadline": rules.format_time(standing.settings.deadline),
        "rows": {split: [_row_as_json(row) for row in rows] for split, rows in standing.rows.items()},
    }


def _row_as_json(row):
    """rank: None for an entry that was refused, or that has not been ranked yet. public_rank: see the store's Row."""
    return {
        "rank": row.rank,
        "public_rank": row.public_rank,
        "group": row.group,
        "members": row.members,
        "baseline": row.is_baseline,
        "entry": row.entry,
        "received": row.received,
        "verified": row.is_verified,
        "verification": {"state": row.state, "said": row.remark},
        "evidence": row.evidence,
        **{name: getattr(row, name) for name in NUMBERS},
    }


def entry_as_json(past):
    """A store's PastEntry as the API answers it, a dict."""
    return {
        "id": past.id,
        "received": past.received,
        "counts": past.counts,
        "chosen": past.is_chosen,
        "note": past.note,
        "withdrawn": past.withdrawn,
        "receipt": past.receipt,
        "scores": past.scores.get("public"),
        "private": past.scores.get("private"),
        "evidence": past.evidence,
        "verification": {"state": past.state, "said": past.remark},
    }


def standing_as_csv(standing):
    """A Standing as CSV, a text: one row per split and group, accuracies as fractions, those of the classes last."""
    classes = range(1, len(scene.CLASSES))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*COLUMNS, *(f"recall: {scene.CLASSES[c]}" for c in classes)])
    for split, rows in standing.rows.items():
        for row in rows:
            values = {name: getattr(row, name, None) for name in COLUMNS} | (row.evidence or {})
            values |= {"part": standing.part, "split": split, "verification": row.state}
            recall = [row.recall.get(c) for c in classes]
            writer.writerow([spreadsheets.mark_text(value) for value in [*(values[name] for name in COLUMNS), *recall]])
    return file.getvalue()
