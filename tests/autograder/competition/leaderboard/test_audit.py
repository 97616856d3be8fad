"""The audit notices every change of the past: in the log, on the board, and lines that were cut off."""

import pytest
import sqlalchemy as sql

from autograder.competition.leaderboard import audit
from autograder.competition.leaderboard.store import tables as T
from autograder.testing.board import CODE, make_entry


@pytest.fixture
def past(store):
    """A board with some history."""
    one, two = (store.groups.join(name, CODE)[0].id for name in ("One", "Two"))
    store.entries.accept(one, "a", make_entry())
    store.entries.accept(one, "b", make_entry())
    store.entries.accept(two, "c", make_entry())
    store.entries.choose(one, 1)
    store.groups.renew_token(two)
    store.entries.withdraw(3, "copied from One")
    store.settings.change({"per_day": 7})
    three, four = (store.groups.join(name, CODE)[0].id for name in ("Three", "Four"))
    store.entries.accept(three, "a", make_entry(), note="a blur")
    store.entries.choose(one, 2)
    store.groups.set_members(one, "Ada, Grace")
    store.groups.rename(one, "Uno")
    store.groups.set_baseline(two, True)
    store.groups.merge(three, one)
    store.groups.delete(four)
    store.settings.freeze(True)
    assert audit.find_faults(store.log) == []
    return store


CHANGES = {
    "a line's text": T.log.update().where(T.log.c.n == 4).values(detail="{}"),
    "a line's time": T.log.update().where(T.log.c.n == 4).values(time="2000-01-01T00:00:00.000000Z"),
    "who did it": T.log.update().where(T.log.c.n == 4).values(actor="group 2"),
    "a line that is gone": T.log.delete().where(T.log.c.n == 4),
    "the first line": T.log.delete().where(T.log.c.n == 1),
    "the notebook": T.files.update().where(T.files.c.entry == 1).values(notebook=b"{}"),
    "a map": T.files.update().where(T.files.c.entry == 2).values(random=b""),
    "the time of receipt": T.entries.update().where(T.entries.c.id == 2).values(received="2000-01-01T00:00:00.000000Z"),
    "whose it is": T.entries.update().where(T.entries.c.id == 3).values(group=1),
    "the evidence": T.entries.update().where(T.entries.c.id == 3).values(evidence='{"ranks":9,"seconds":1}'),
    "the choice": T.groups.update().where(T.groups.c.id == 1).values(chosen=1),
    "the second choice": T.groups.update().where(T.groups.c.id == 1).values(second=None),
    "a note": T.entries.update().where(T.entries.c.id == 4).values(note="another"),
    "a group's members": T.groups.update().where(T.groups.c.id == 1).values(members="Eve"),
    "a baseline": T.groups.update().where(T.groups.c.id == 1).values(baseline=1),
    "an entry of a merged group": T.entries.update().where(T.entries.c.id == 4).values(group=3),
    "a deleted group": T.groups.update().where(T.groups.c.id == 4).values(gone=None),
    "the withdrawal": T.entries.update().where(T.entries.c.id == 3).values(withdrawn=None),
    "a group's name": T.groups.update().where(T.groups.c.id == 2).values(name="2wo"),
    "a group's token": T.groups.update().where(T.groups.c.id == 2).values(token="0"),
    "an entry from nowhere": sql.text(
        "insert into entries select 9, \"group\", 'x', received, digest, evidence, withdrawn, receipt, note from "
        "entries where id = 1"
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_every_change_of_the_past_is_noticed(past, what):
    with past.database.engine.connect() as connection, connection.begin():
        connection.execute(CHANGES[what])
    assert audit.find_faults(past.log)


def test_a_receipt_shows_that_lines_were_cut_off_at_the_end(past):
    receipts = {each.receipt for each in past.visible.read_history(2).entries} | {past.log.read_head()[1]}
    assert audit.find_faults(past.log, receipts) == []
    with past.database.engine.connect() as connection, connection.begin():
        connection.execute(T.log.delete().where(T.log.c.n > 8))
    assert len(audit.find_broken_line(past.log.read_lines())) == 0
    assert any("lines were cut off" in fault for fault in audit.find_faults(past.log, receipts))


def test_a_log_that_was_rewritten_as_a_whole_lacks_the_receipts(past):
    receipt = past.visible.read_history(2).entries[0].receipt
    lines, before = past.log.read_lines(), audit.START
    with past.database.engine.connect() as connection, connection.begin():
        for line in lines:
            values = dict(line._mapping) | {"time": line.time.replace("20", "19", 1)}
            values.pop("hash")
            before = audit.hash_line(before, **values)
            connection.execute(T.log.update().where(T.log.c.n == line.n).values(time=values["time"], hash=before))
    assert audit.find_broken_line(past.log.read_lines()) == [] and audit.find_faults(past.log, [receipt])


def test_the_log_has_no_secrets(past):
    past.settings.change({"code": "new-secret-code"})
    token = past.groups.join("Three", "new-secret-code")[1]
    text = str(past.log.read_lines())
    assert "new-secret-code" not in text and CODE not in text and token not in text and past.token not in text
