"""Runs one of nbgrader's own converters quietly, and turns its failure into one sentence."""

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
    reason, log = FirstReason(), logging.getLogger("autograder.nbgrader")
    log.handlers, log.propagate = [reason], False
    step = converter(coursedir, config=config, log=log)
    step.force = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SQLAlchemy warns about nbgrader's own models
            step.start()
    except (NbGraderException, SystemExit) as error:
        raise Problem(reason.text or str(error)) from error


def ensure_path():
    """Put this environment first on PATH if it is missing: nbgrader calls `alembic` by name for a new gradebook."""
    here = str(Path(sys.executable).parent)
    if here not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([here, os.environ.get("PATH", os.defpath)])


class FirstReason(logging.Handler):
    """Keeps the last line of the first traceback that nbgrader logs; later messages only repeat that it failed."""

    text = ""

    def emit(self, record):
        message = record.getMessage().strip()
        if record.levelno >= logging.ERROR and "Traceback" in message and not self.text:
            self.text = message.splitlines()[-1]
