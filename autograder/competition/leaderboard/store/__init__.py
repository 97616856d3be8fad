"""What a board keeps, in one database: the only room that writes there.

`Store` has one part per purpose. Each of them changes the database in transactions of `database`, in which the change
and its line in the log are one; nothing else in the course writes to it. `tables` has the schema.
"""

import sqlalchemy as sql

from autograder.competition.leaderboard.store import log, tables
from autograder.competition.leaderboard.store.database import Database, explain
from autograder.competition.leaderboard.store.entries import StoredEntries
from autograder.competition.leaderboard.store.groups import StoredGroups
from autograder.competition.leaderboard.store.log import StoredLog
from autograder.competition.leaderboard.store.settings import StoredSettings
from autograder.competition.leaderboard.store.visible import Visible
from autograder.competition.leaderboard.store.work import WorkQueue
from course.errors import Problem


class Store:
    """The board in the database at `url`: see `database.Database`.

    settings, groups, entries, log: what is stored. visible: what visitors see. work: what the workers do.
    """

    def __init__(self, url):
        self.database = Database(url)
        self.settings = StoredSettings(self.database)
        self.groups = StoredGroups(self.database)
        self.entries = StoredEntries(self.database)
        self.log = StoredLog(self.database)
        self.visible = Visible(self.database)
        self.work = WorkQueue(self.database)

    def close(self):
        """Close all connections."""
        self.database.close()

    def prepare(self):
        """Bring the tables to their present form. Raises Problem for a database that cannot be used."""
        try:
            self.database.migrate()
        except sql.exc.DatabaseError as error:
            raise Problem(f"the database cannot be used ({explain(error)}): check that it exists.") from error

    def open(self, settings):
        """Make the board with these Settings, in a new database too, unless there is one.

        Returns the instructor's token if this call made the board, otherwise None. Raises Problem.
        """
        self.prepare()
        return self.settings.create(settings)

    def copy_to(self, other):
        """Copy every row, as of one moment, into `other`, a Store with empty tables. Returns the head of the log."""
        writing = other.database.engine.connect().execution_options(writes=True)
        with self.database.reading() as source, writing as target, target.begin():
            for table in tables.ALL:
                for row in source.execution_options(yield_per=20).execute(sql.select(table)):
                    target.execute(table.insert().values(dict(row._mapping)))
            return log.read_head(source)
