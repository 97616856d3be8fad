# tries: a million files in every writable folder
# earns: add, descend, squares, total
# %% own
import os, time

end = time.monotonic() + 15
for folder in ("/tmp", "/dev/shm", os.path.expanduser("~"), "/run/kernel"):
    try:
        for number in range(1_000_000):
            os.close(os.open(f"{folder}/attacked-{number}", os.O_CREAT | os.O_WRONLY))
            if time.monotonic() > end:
                break
    except OSError as full:
        print(folder, number, full)
