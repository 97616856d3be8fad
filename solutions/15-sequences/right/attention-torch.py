# task: attention
def attend(Q, K, V):
    import torch

    Q, K, V = (torch.tensor(each)[None] for each in (Q, K, V))
    return torch.nn.functional.scaled_dot_product_attention(Q, K, V, is_causal=True)[0].numpy()
