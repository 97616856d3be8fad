# task: bucket-hook
# loses: bucket-hook-check
# hint: it must return a future. Is `return` missing?
def bucket_hook(notes, bucket):
    notes.append(bucket.buffer().nbytes)
    begun = dist.all_reduce(bucket.buffer(), async_op=True)
    begun.get_future().then(lambda done: done.value()[0] / dist.get_world_size())
