# task: busy
# loses: busy-check
# hint: counts operations of other devices
def busy(operations, device):
    """For how many seconds at least one operation was running on `device`; operations as in step 3, in any order."""
    seconds, latest = 0.0, float("-inf")
    for start, end in sorted((each["start"], each["end"]) for each in operations):
        if end > latest:
            seconds += end - max(start, latest)
            latest = end
    return seconds
