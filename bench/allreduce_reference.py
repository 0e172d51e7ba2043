"""Times what NCCL and PyTorch's symmetric memory need for an all-reduce, for
bench/RESULTS.md: in a CUDA graph of 64 nodes, and called one by one; the mean of
the slowest rank.

    torchrun --nproc-per-node 2 bench/allreduce_reference.py
"""

import os
import statistics
import torch
import torch.distributed as dist

SIZES = [2 << 10, 12 << 10, 64 << 10, 128 << 10, 512 << 10, 2 << 20, 16 << 20]
NODES = 64


def slowest(call, times):
    """The median over repetitions of the slowest rank's mean, in microseconds."""
    took = []
    for i in range(30):
        dist.barrier()
        torch.cuda.synchronize()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        mine = torch.tensor([begin.elapsed_time(end) * 1e3 / times], device="cuda")
        dist.all_reduce(mine, op=dist.ReduceOp.MAX)
        if i >= 10:
            took.append(mine.item())
    return statistics.median(took)


def graphed(op):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            op()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(NODES):
            op()
    return slowest(graph.replay, NODES)


def eager(op):
    def some():
        for _ in range(NODES):
            op()
    return slowest(some, NODES)


def main():
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    try:
        import torch.distributed._symmetric_memory as symmetric
    except ImportError:
        symmetric = None
    if rank == 0:
        print(f"PyTorch {torch.__version__}, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}, {dist.get_world_size()} GPUs")
    for size in SIZES:
        x = torch.zeros(size // 2, dtype=torch.bfloat16, device="cuda")
        line = f"{size:9d} B  NCCL graph {graphed(lambda: dist.all_reduce(x)):7.2f} us  eager {eager(lambda: dist.all_reduce(x)):7.2f} us"
        if symmetric is not None:
            try:
                s = symmetric.empty(size // 2, dtype=torch.bfloat16, device="cuda")
                symmetric.rendezvous(s, dist.group.WORLD)
                s.zero_()
                name = dist.group.WORLD.group_name
                one = graphed(lambda: torch.ops.symm_mem.one_shot_all_reduce(s, "sum", name))
                two = graphed(lambda: torch.ops.symm_mem.two_shot_all_reduce_(s, "sum", name))
                line += f"  symmetric memory one-shot {one:7.2f} us, two-shot {two:7.2f} us"
            except Exception as e:  # a version that names them otherwise
                line += f"  symmetric memory: {str(e).splitlines()[0][:80]}"
        if rank == 0:
            print(line, flush=True)
    dist.destroy_process_group()


main()
