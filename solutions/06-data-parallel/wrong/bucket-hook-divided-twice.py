# task: bucket-hook
# loses: bucket-hook-check
# hint: divided twice
def bucket_hook(notes, bucket):
    """Average a bucket over all ranks and append its size in bytes to the list notes; returns the future."""
    notes.append(bucket.buffer().nbytes)
    bucket.buffer().div_(dist.get_world_size())
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    return work.get_future().then(lambda done: done.value()[0] / dist.get_world_size())
