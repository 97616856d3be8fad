# task: bucket-hook
# loses: bucket-hook-check
# hint: append each bucket's size
def bucket_hook(notes, bucket):
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    return work.get_future().then(lambda done: done.value()[0] / dist.get_world_size())
