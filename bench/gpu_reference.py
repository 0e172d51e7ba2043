"""Times what vendor libraries reach, for bench/RESULTS.md: cuBLAS products and
cuDNN attention as PyTorch calls them, each in one CUDA graph over operands that
rotate until six second-level caches lie between two uses.

    python3 bench/gpu_reference.py        # on the machine with the GPU
"""

import statistics
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

COLD = 6 * 60e6
NODES = 64


def timed(name, calls):
    """The median time of one call, in microseconds."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls[:2]:
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        nodes = max(1, NODES // len(calls)) * len(calls)
        for i in range(nodes):
            calls[i % len(calls)]()
    took = []
    for i in range(40):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        if i >= 10:
            took.append(begin.elapsed_time(end) * 1e3 / nodes)
    print(f"{name:40s} {statistics.median(took):8.2f} us  {min(took):8.2f} to {max(took):8.2f}", flush=True)


def product(tokens, rows, cols):
    copies = int(COLD / (2 * rows * cols)) + 2
    weights = [torch.empty(rows, cols, device="cuda", dtype=torch.bfloat16).uniform_(-1, 1) for _ in range(copies)]
    x = torch.empty(tokens, cols, device="cuda", dtype=torch.bfloat16).uniform_(-1, 1)
    out = torch.empty(tokens, rows, device="cuda", dtype=torch.bfloat16)
    timed(f"cuBLAS BF16 M={tokens} {rows}x{cols}", [lambda w=w: torch.mm(x, w.t(), out=out) for w in weights])


def attention(batch, context):
    size = 2 * 2 * batch * 8 * context * 128
    copies = int(COLD / size) + 2
    cache = [[torch.empty(batch, 8, context, 128, device="cuda", dtype=torch.bfloat16).uniform_(-1, 1) for _ in "kv"] for _ in range(copies)]
    q = torch.empty(batch, 32, 1, 128, device="cuda", dtype=torch.bfloat16).uniform_(-4, 4)
    call = torch.nn.functional.scaled_dot_product_attention
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        timed(f"cuDNN GQA 32/8x128 BF16 {batch}x{context}", [lambda k=k, v=v: call(q, k, v, enable_gqa=True) for k, v in cache])


print(torch.cuda.get_device_name(), "torch", torch.__version__, "cuDNN", torch.backends.cudnn.version())
for rows, cols in (28672, 8192), (4096, 4096), (6144, 4096), (4096, 14336), (6144, 6144):
    product(1, rows, cols)
for tokens in 4, 8, 16, 32, 64:
    product(tokens, 28672, 8192)
product(16, 6144, 6144)
for batch, context in (16, 8192), (1, 8192), (1, 65536), (64, 1000):
    try:
        attention(batch, context)
    except RuntimeError as e:
        print(f"cuDNN {batch}x{context}: {str(e).splitlines()[0]}")
