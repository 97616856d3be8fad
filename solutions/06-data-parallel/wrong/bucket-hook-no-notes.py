# task: bucket-hook
# loses: bucket-hook-check
# hint: the list is empty
def bucket_hook(notes, bucket):
    """Average a bucket over all ranks and append its size in bytes to the list notes; returns the future."""
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    return work.get_future().then(lambda done: done.value()[0] / dist.get_world_size())
