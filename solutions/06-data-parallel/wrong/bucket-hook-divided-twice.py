# task: bucket-hook
# loses: bucket-hook-check
# hint: once too often
def bucket_hook(notes, bucket):
    notes.append(bucket.buffer().nbytes)
    bucket.buffer().div_(dist.get_world_size())
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    return work.get_future().then(lambda done: done.value()[0] / dist.get_world_size())
