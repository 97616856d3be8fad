"""Runs one of nbgrader's own converters quietly, and turns its failure into one sentence."""

import logging
import warnings

from course.errors import Problem


def run(converter, coursedir, config):
    """Run an nbgrader converter over what `coursedir` names; raises Problem with nbgrader's reason."""
    from nbgrader.converters import NbGraderException

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


class FirstReason(logging.Handler):
    """Keeps the last line of the first traceback that nbgrader logs; later messages only repeat that it failed."""

    text = ""

    def emit(self, record):
        message = record.getMessage().strip()
        if record.levelno >= logging.ERROR and "Traceback" in message and not self.text:
            self.text = message.splitlines()[-1]
