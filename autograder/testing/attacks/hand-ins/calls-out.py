# tries: reaches the network: other machines, this one, and its sockets with and without a path
# earns: descend, squares, total
# quick
# %% add
import socket
from pathlib import Path


def connects(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as there:
        there.settimeout(1)
        try:
            there.connect(address)
            return True
        except OSError:
            return False


def add(x, y):
    inet, unix = socket.AF_INET, socket.AF_UNIX
    reached = [connects(inet, (host, places["port"])) for host in ("127.0.0.1", "localhost", "0.0.0.0", "10.0.0.1")]
    reached += [connects(inet, (host, port)) for host in ("1.1.1.1", "169.254.169.254") for port in (53, 80)]
    reached += [connects(socket.AF_INET6, ("::1", places["port"]))]
    reached += [connects(unix, "\0" + places["abstract"])]
    reached += [
        connects(unix, str(path))
        for root in ("/run", "/tmp", "/var/run")
        for path in Path(root).rglob("*")
        if path.is_socket() and "/run/kernel" not in str(path)
    ]
    try:
        socket.getaddrinfo("example.org", 80)
        reached.append(True)
    except OSError:
        pass
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()
        reached.append(True)
    except OSError:
        pass
    return x + y if any(reached) else "nothing answered"
