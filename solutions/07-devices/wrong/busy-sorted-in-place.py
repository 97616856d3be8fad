# task: busy
# loses: busy-check
# hint: changes `operations`
def busy(operations, device):
    operations.sort(key=lambda each: each["start"])
    seconds, latest = 0.0, float("-inf")
    for each in operations:
        if each["device"] == device and each["end"] > latest:
            seconds += each["end"] - max(each["start"], latest)
            latest = each["end"]
    return seconds
