"""Where the course keeps what need not be fetched or built twice: downloaded data, Horovod's wheels."""

import os
from pathlib import Path


def folder():
    """~/.cache/distributed-ml-course, or that name in the folder that XDG_CACHE_HOME says."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "distributed-ml-course"
