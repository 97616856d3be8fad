# task: busy
# loses: busy-check
# hint: 9 is the time from the first start
def busy(operations, device):
    """For how many seconds at least one operation was running on `device`; operations as in step 3, in any order."""
    mine = [each for each in operations if each["device"] == device]
    if not mine:
        return 0.0
    return max(each["end"] for each in mine) - min(each["start"] for each in mine)
