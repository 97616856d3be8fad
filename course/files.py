"""Writing a file whole or not at all: the one helper for every file that must never be seen half-written.

Touches the file that it is given, and a temporary file beside it.
"""

import contextlib
import os
import secrets
from pathlib import Path


def write_whole(path, content, mode=0o666):
    """Replace the file at `path` by `content` (bytes, or text that is written as UTF-8) in one step.

    Folders above it are made where they are missing. The content is on the disk when this returns, and a reader sees
    either the old file or the new one, whatever ends this process. mode: permissions of the file, before the umask.
    Raises OSError, and leaves the old file as it was.
    """
    path = Path(path)
    content = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.unfinished")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
