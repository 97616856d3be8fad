"""A PostgreSQL server for one test run or one bench: in a temporary folder, reached through a Unix socket only."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

from course.errors import Problem


@contextlib.contextmanager
def start_postgresql(*options):
    """Start a server with these options; yields a function that creates a database and returns its URL.

    Raises Problem where PostgreSQL is not installed.
    """
    tools = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)
    if tools is None:
        raise Problem("PostgreSQL is not installed: install Debian's package postgresql.")
    user = {"user": "postgres"} if os.geteuid() == 0 else {}  # it refuses to run as root
    folder = Path(subprocess.check_output(["mktemp", "-d"], text=True, **user).strip())

    def run_tool(name, *arguments):
        subprocess.run([tools / name, *arguments], cwd="/", check=True, stdout=subprocess.DEVNULL, **user)

    def create_database():
        name = f"board{next(numbers)}"
        run_tool("createdb", "-h", folder, "-U", "class", name)
        return f"postgresql+psycopg://class@/{name}?host={folder}"

    numbers = iter(range(1000))
    run_tool("initdb", "-D", folder / "data", "-A", "trust", "-U", "class", "-N")
    options = f"-k {folder} -c listen_addresses='' {' '.join(options)}"
    run_tool("pg_ctl", "-D", folder / "data", "-o", options, "-l", folder / "log", "-w", "start")
    try:
        yield create_database
    finally:
        run_tool("pg_ctl", "-D", folder / "data", "-m", "fast", "-w", "stop")
        shutil.rmtree(folder)
