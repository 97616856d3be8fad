# task: busy
def busy(operations, device):
    """For how many seconds at least one operation was running on `device`; operations as in step 3, in any order."""
    joined = []
    for each in sorted(operations, key=lambda each: each["start"]):
        if each["device"] == device:
            if joined and each["start"] <= joined[-1][1]:
                joined[-1][1] = max(joined[-1][1], each["end"])
            else:
                joined.append([each["start"], each["end"]])
    return sum(end - start for start, end in joined)
