# task: bucket-hook
def bucket_hook(notes, bucket):
    buffer = bucket.buffer()
    notes.append(buffer.numel() * buffer.element_size())
    dist.all_reduce(buffer)
    done = torch.futures.Future()
    done.set_result(buffer / dist.get_world_size())
    return done
