"""What launches from an LTI platform said, kept for grading: who is who there, and where each lab's grades belong.

One SQLite file in the class's folder, written by the Hub at each launch and by `lti_grades` when it sends scores. It
holds no password and no token, and grading can read it while the Hub does not run.
"""

import contextlib
import json
import sqlite3
import time

TABLES = """
CREATE TABLE IF NOT EXISTS people (name TEXT PRIMARY KEY, subject TEXT NOT NULL UNIQUE, launched REAL NOT NULL);
CREATE TABLE IF NOT EXISTS items (lab TEXT PRIMARY KEY, url TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS contexts (id TEXT PRIMARY KEY, items_url TEXT NOT NULL, launched REAL NOT NULL);
CREATE TABLE IF NOT EXISTS sent (name TEXT, lab TEXT, score TEXT NOT NULL, PRIMARY KEY (name, lab));
CREATE TABLE IF NOT EXISTS nonces (nonce TEXT PRIMARY KEY, expires REAL NOT NULL);
"""


class Launches:
    """The file at `path`, made where it is missing; readable for its owner alone."""

    def __init__(self, path):
        self.path = path
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

    def admit(self, name, subject):
        """The user name of a subject of the platform: the one of the first launch, otherwise `name`.

        Returns None if `name` belongs to another subject.
        """
        with self._open() as database:
            database.execute("INSERT OR IGNORE INTO people VALUES (?, ?, ?)", (name, subject, time.time()))
            known = database.execute("SELECT name FROM people WHERE subject = ?", (subject,)).fetchone()
        return known[0] if known else None

    def note_item(self, lab, url):
        """Keep the line item, the platform's column of grades, that belongs to a lab."""
        with self._open() as database:
            known = database.execute("SELECT url FROM items WHERE lab = ?", (lab,)).fetchone()
            if known != (url,):
                database.execute("INSERT OR REPLACE INTO items VALUES (?, ?)", (lab, url))
                database.execute("DELETE FROM sent WHERE lab = ?", (lab,))  # another column has none of the scores

    def note_context(self, context, url):
        """Keep where a course of the platform has all its line items."""
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO contexts VALUES (?, ?, ?)", (context, url, time.time()))

    def find_item(self, lab):
        """The line item of a lab, or None."""
        with self._open() as database:
            row = database.execute("SELECT url FROM items WHERE lab = ?", (lab,)).fetchone()
        return row[0] if row else None

    def list_contexts(self):
        """The address of all line items, for each course of the platform from which launches came."""
        with self._open() as database:
            return [url for (url,) in database.execute("SELECT items_url FROM contexts ORDER BY id")]

    def find_subject(self, name):
        """Who a user is on the platform, or None for someone who never came from there."""
        with self._open() as database:
            row = database.execute("SELECT subject FROM people WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def find_sent(self, name, lab):
        """The score (a dict) that the platform last accepted for a user, or None."""
        with self._open() as database:
            row = database.execute("SELECT score FROM sent WHERE name = ? AND lab = ?", (name, lab)).fetchone()
        return json.loads(row[0]) if row else None

    def note_sent(self, name, lab, score):
        """Keep a score that the platform accepted."""
        with self._open() as database:
            database.execute("INSERT OR REPLACE INTO sent VALUES (?, ?, ?)", (name, lab, json.dumps(score)))
