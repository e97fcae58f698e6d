"""What this machine can do."""

import ctypes
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TypeVar

import torch

from regard.errors import RegardError

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
"""Names of settings in glibc's malloc.h."""
MOST_WORKERS = 4
COMPILED = 2048
"""Compiled products to remember."""
LONGEST_IN_TILES = 448
"""Numbers that processors with tiles (AMX) add up in one go, however many rows there are."""
ROWS_AT_A_TIME, LEAST_ROWS = 6, 3
"""Of products in half precision with AVX2: rows that are multiplied together, and how few may be left over."""
Job = TypeVar("Job")
Result = TypeVar("Result")


def choose_device(name: str) -> torch.device:
    """Return the named device, or the best there is for "auto"."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        name = next(device for device, is_there in available.items() if is_there)
    if not available[name]:
        there = ", ".join(device for device, is_there in available.items() if is_there)
        raise RegardError(f"train.device: got '{name}', which this machine does not have. It has: {there}.")
    return torch.device(name)


def choose_precision(name: str, device: torch.device) -> torch.dtype:
    """Return the named number format, or for "auto" bfloat16 where the hardware computes with it and else float32."""
    if name == "auto":
        name = "bfloat16" if has_bfloat16(device) else "float32"
    return torch.bfloat16 if name == "bfloat16" else torch.float32


def has_bfloat16(device: torch.device) -> bool:
    """Say whether the hardware has bfloat16 matrix products; emulated ones are far slower than float32."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type == "cpu":
        capabilities = torch.cpu.get_capabilities()
        return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16") or capabilities.get("bf16"))
    return False


@cache
def longest_short_product() -> int:
    """Return how many numbers this processor multiplies in bfloat16 and adds up with the same bits in any company.

    0 where it has no products in bfloat16 and in bytes, or none like that.
    """
    has_bytes = torch.cpu.get_capabilities().get("avx512_vnni")
    if not (has_bytes and has_bfloat16(torch.device("cpu")) and torch.backends.mkldnn.is_available()):
        return 0
    if not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return 0
    # With tiles (AMX) longer sums are cut into parts, whose number depends on how many rows there are.
    lengths = {512: sys.maxsize, LONGEST_IN_TILES: LONGEST_IN_TILES}
    return next((longest for length, longest in lengths.items() if _has_rows_of_their_own(length)), 0)


def has_tiles() -> bool:
    """Say whether oneDNN multiplies bytes in tiles (AMX): processor and system have them, and it is not told not to."""
    limits = {os.environ.get(name, "").upper() for name in ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")}
    if any("AMX" not in limit for limit in limits - {"", "ALL", "DEFAULT"}):
        return False
    return bool(torch.cpu.get_capabilities().get("amx_int8")) and torch.cpu._init_amx()


def _has_rows_of_their_own(length: int) -> bool:
    """Multiply many rows and few; what cancels leaves the errors of rounding, which show the order of adding."""
    generator = torch.Generator().manual_seed(1)
    half, columns = (torch.randn(size, length // 2, generator=generator) for size in (600, 96))
    rows, weights = torch.cat((half, half), dim=1), torch.cat((columns, -columns), dim=1)
    packed = torch.ops.mkldnn._reorder_linear_weight(weights.bfloat16())
    linear, before = torch.ops.mkldnn._linear_pointwise, torch.zeros(600, 96, dtype=torch.bfloat16)
    counts = (600, 2, 3, 5, 40, 333)  # a single row is never multiplied
    fresh = [linear(rows[:n].bfloat16(), packed, None, "none", [], "") for n in counts]
    added = [linear(rows[:n].bfloat16(), before[:n], packed, None, "add") for n in counts]
    return all(torch.equal(few, many[: len(few)]) for many, *others in (fresh, added) for few in others)


def missing_rows(rows: int) -> int:
    """Return how many rows are to be added to a product in half precision, for the bits of each to be its own.

    With AVX2 alone FBGEMM multiplies six rows at a time and adds up a rest of one or two in another order.
    """
    rest = rows % ROWS_AT_A_TIME
    return LEAST_ROWS - rest if 0 < rest < LEAST_ROWS and _few_rows_differ() else 0


@cache
def _few_rows_differ() -> bool:
    generator = torch.Generator().manual_seed(1)
    rows, weights = (torch.randn(size, 64, generator=generator) for size in (LEAST_ROWS, 64))
    packed = torch.ops.quantized.linear_prepack_fp16(weights, None)
    many, *others = (torch.ops.quantized.linear_dynamic_fp16(rows[:n], packed) for n in range(LEAST_ROWS, 0, -1))
    return not all(torch.equal(few, many[: len(few)]) for few in others)


def processor() -> str:
    """Return the name of the processor, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


@cache
def keep_freed_memory() -> None:
    """Ask the C library to keep freed memory for the next step instead of returning it to the system.

    Training frees and takes the same hundreds of megabytes at every step; fetching them from the system anew, page by
    page, costs up to a third of the time, and a sixth of that of a single translation. Only glibc has these settings;
    elsewhere this does nothing.
    """
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return
    largest, half_heap, two_heaps = 2**31 - 1, 2**25, 2**27
    mallopt(M_TRIM_THRESHOLD, largest)
    mallopt(M_MMAP_THRESHOLD, largest) or mallopt(M_MMAP_THRESHOLD, half_heap)  # the most that older versions take
    mallopt(M_TOP_PAD, two_heaps)  # the memory of a thread is in heaps, which are given back whole unless this is set


def keep_compiled_products() -> None:
    """Ask oneDNN, before it has computed anything, to remember more of the products that it has compiled.

    It compiles a matrix product for every size it meets, in half a millisecond (up to 50 with tiles), and forgets all
    but the last 1,024. The batches of an epoch have some thousands of sizes in all; a compiled product takes up to 0.7
    megabytes.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(COMPILED))


def workers(threads: int) -> int:
    """Return how many threads compute side by side, each with as many processor threads; few of these stay idle."""
    counts = range(min(threads, 2), min(threads, MOST_WORKERS) + 1)
    return max(counts, key=lambda count: (threads // count * count, count))


def thread_pool(threads: int) -> ThreadPoolExecutor:
    """Return workers that share the processor threads among them.

    Two threads that each do whole products of their own beat two that halve every product: there is nothing to wait for
    between the products.
    """
    count = workers(threads)
    return ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(threads // count,))


def side_by_side(work: Callable[[Job], Result], jobs: Sequence[Job]) -> Iterator[Result]:
    """Do several jobs at a time and give the results in order; none is begun any more once nobody asks."""
    if len(jobs) < 2:  # has all threads to itself
        yield from map(work, jobs)
        return
    threads = torch.get_num_threads()
    try:
        with thread_pool(threads) as pool:
            yield from pool.map(work, jobs)
    finally:
        torch.set_num_threads(threads)  # what a worker sets for itself becomes the default of every new thread
