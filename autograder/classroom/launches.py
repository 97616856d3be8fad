"""What launches from an LTI platform said, kept for grading: who is who there, and where each lab's grades belong.

One SQLite file in the class's folder, written by the Hub at each launch and by `lti_grades` when it sends scores. It
holds no password and no token, and grading can read it while the Hub does not run.
"""

import contextlib
import json
import sqlite3
import time

TABLES = """
CREATE TABLE IF NOT EXISTS people (name TEXT PRIMARY KEY, subject TEXT NOT NULL UNIQUE, context TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS contexts (id TEXT PRIMARY KEY, items_url TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS items (context TEXT, lab TEXT, url TEXT NOT NULL, PRIMARY KEY (context, lab));
CREATE TABLE IF NOT EXISTS sent (name TEXT, url TEXT, score TEXT NOT NULL, PRIMARY KEY (name, url));
CREATE TABLE IF NOT EXISTS nonces (nonce TEXT PRIMARY KEY, expires REAL NOT NULL);
"""


class Launches:
    """The file at `path`, made where it is missing; readable for its owner alone."""

    def __init__(self, path):
        self.path = path
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        with self._open() as database:
            database.executescript(TABLES)

    @contextlib.contextmanager
    def _open(self):
        """Yield a connection, whose changes are kept all or not at all."""
        connection = sqlite3.connect(self.path, timeout=60)
        try:
            with connection:
                yield connection
        finally:
            connection.close()

    def use_nonce(self, nonce, expires):
        """Note a nonce until the time `expires` (seconds since 1970); returns whether it had not been used before."""
        with self._open() as database:
            database.execute("DELETE FROM nonces WHERE expires < ?", (time.time(),))
            values = (nonce, expires)
            return database.execute("INSERT OR IGNORE INTO nonces VALUES (?, ?)", values).rowcount == 1

    def admit(self, name, subject, context):
        """Note who launches from which course (context) of the platform, and return the user name.

        It is the one of the subject's first launch, otherwise `name`; None if `name` belongs to another subject.
        """
        with self._open() as database:
            database.execute("INSERT OR IGNORE INTO people VALUES (?, ?, ?)", (name, subject, context))
            database.execute("UPDATE people SET context = ? WHERE subject = ?", (context, subject))
            known = database.execute("SELECT name FROM people WHERE subject = ?", (subject,)).fetchone()
        return known[0] if known else None

    def find_person(self, name):
        """(subject, context) of a user, or None for someone who never came from the platform."""
        return self._find("SELECT subject, context FROM people WHERE name = ?", name)

    def note_context(self, context, url):
        """Keep the address of all line items, the platform's columns of grades, of one of its courses."""
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO contexts VALUES (?, ?)", (context, url))

    def find_items(self, context):
        """The address of all line items of one of the platform's courses, or None."""
        row = self._find("SELECT items_url FROM contexts WHERE id = ?", context)
        return row and row[0]

    def note_item(self, context, lab, url):
        """Keep the address of the line item that belongs to a lab."""
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO items VALUES (?, ?, ?)", (context, lab, url))

    def find_item(self, context, lab):
        """The address of a lab's line item, or None."""
        row = self._find("SELECT url FROM items WHERE context = ? AND lab = ?", context, lab)
        return row and row[0]

    def note_sent(self, name, url, score):
        """Keep a score (a dict) that the platform accepted for a line item."""
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO sent VALUES (?, ?, ?)", (name, url, json.dumps(score)))

    def find_sent(self, name, url):
        """The score that the platform last accepted for a user and a line item, or None."""
        row = self._find("SELECT score FROM sent WHERE name = ? AND url = ?", name, url)
        return row and json.loads(row[0])

    def _find(self, query, *values):
        with self._open() as database:
            return database.execute(query, values).fetchone()
