# tries: takes all memory with files in /tmp, /dev/shm and the home, and with unnamed files
# earns: add, descend, squares, total
# %% own
import os

kept = []
for folder in ("/tmp", "/dev/shm", os.path.expanduser("~"), "/run", "/run/kernel", "/var/tmp", "/dev", "."):
    try:
        with open(f"{folder}/attacked", "wb") as file:
            for _ in range(1000):
                file.write(b"x" * 2**20)
    except OSError as full:
        print(folder, full)
