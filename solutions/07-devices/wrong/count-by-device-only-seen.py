# task: count-by-device
# loses: count-by-device-check
# hint: add to the count that is already there
def count_by_device(operations, kind):
    """How many operations of `kind` ran on each device: a dict from the device's name to a number.

    operations: a list of dicts as above. Devices that ran none of this kind are left out.
    """
    counts = {}
    for each in operations:
        if each["kind"] == kind:
            counts[each["device"]] = 1
    return counts
