"""Runs one of nbgrader's own steps quietly, and turns its failure into one sentence."""

import logging
import os
import sys
import warnings
from pathlib import Path

from course.errors import Problem


def run(converter, coursedir, config):
    """Run an nbgrader converter over what `coursedir` names; raises Problem with nbgrader's reason."""
    from nbgrader.converters import NbGraderException

    ensure_path()
    reasons, log = Reasons(), logging.getLogger("autograder.nbgrader")
    log.handlers, log.propagate = [reasons], False
    step = converter(coursedir, config=config, log=log)
    step.force = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SQLAlchemy's about nbgrader's own models
            step.start()
    except (NbGraderException, SystemExit) as error:
        raise Problem(reasons.first or str(error)) from error


def ensure_path():
    """nbgrader makes a new gradebook by calling `alembic` through PATH: let it find this environment's."""
    here = str(Path(sys.executable).parent)
    if here not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([here, os.environ.get("PATH", os.defpath)])


class Reasons(logging.Handler):
    """Remembers the last line of the first traceback that nbgrader logged: what follows only repeats that it failed."""

    first = ""

    def emit(self, record):
        message = record.getMessage().strip()
        if record.levelno >= logging.ERROR and "Traceback" in message and not self.first:
            self.first = message.splitlines()[-1]
