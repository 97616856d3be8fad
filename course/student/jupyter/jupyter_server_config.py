"""Settings of a student's Jupyter server, which finds them through JUPYTER_CONFIG_PATH. Changes nothing else.

Kernels speak over Unix sockets in Jupyter's runtime folder, which only its user may enter, and not over TCP, where any
user of the machine could listen to the port of a kernel or try to connect to it. The path of such a socket is limited,
so where that folder's own path is too long, kernels use TCP, whose messages are signed.
"""

from jupyter_core.paths import jupyter_runtime_dir

LONGEST_SOCKET = 100  # bytes of a Unix socket's path; Linux allows 107, macOS 103
NAME = "kernel-00000000-0000-0000-0000-000000000000-ipc-10"

c = get_config()  # noqa: F821 (Jupyter provides it)
if len(jupyter_runtime_dir().encode()) + len(f"/{NAME}") <= LONGEST_SOCKET:
    c.KernelManager.transport = "ipc"
