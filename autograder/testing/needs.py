"""Marks for tests that need what not every machine has. Such a test is skipped; with CI=true a skip is a failure."""

import pytest

from autograder.examination import sandbox
from course.experiments import spark

needs_sandbox = pytest.mark.skipif(bool(sandbox.why_unavailable()), reason=sandbox.why_unavailable() or "")
needs_spark = pytest.mark.skipif(bool(spark.describe_missing()), reason=spark.describe_missing())
