# task: count-by-device
def count_by_device(operations, kind):
    """How many operations of `kind` ran on each device: a dict from the device's name to a number.

    operations: a list of dicts as above. Devices that ran none of this kind are left out.
    """
    devices = [each["device"] for each in operations if each["kind"] == kind]
    return {device: devices.count(device) for device in devices}
