"""The folder in which the course keeps files that need not be fetched or built twice: data and Horovod's wheels."""

import os
from pathlib import Path


def folder():
    """~/.cache/distributed-ml-course, or the folder of that name in the one that XDG_CACHE_HOME names."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "distributed-ml-course"
