# task: count-by-device
# loses: count-by-device-check
# hint: counts operations of every kind
def count_by_device(operations, kind):
    """How many operations of `kind` ran on each device: a dict from the device's name to a number.

    operations: a list of dicts as above. Devices that ran none of this kind are left out.
    """
    counts = {}
    for each in operations:
        counts[each["device"]] = counts.get(each["device"], 0) + 1
    return counts
