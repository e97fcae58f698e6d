"""Threads side by side."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from regard import device
from regard.device import side_by_side, thread_pool, workers


@pytest.mark.parametrize(
    ("threads", "count"), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 4), (6, 3), (7, 3), (8, 4), (11, 2)]
)
def test_workers_leave_few_threads_idle(threads: int, count: int) -> None:
    assert workers(threads) == count
    with thread_pool(threads) as pool:
        assert pool.submit(torch.get_num_threads).result() == threads // count


def test_jobs_are_done_at_the_same_time_and_come_back_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    both = threading.Barrier(2, timeout=30)

    def work(job: int) -> int:
        both.wait()
        return job

    assert list(side_by_side(work, [3, 1, 2, 0])) == [3, 1, 2, 0]


def test_new_threads_keep_their_processor_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    was = torch.get_num_threads()
    list(side_by_side(lambda job: job, [0, 1, 2]))
    monkeypatch.undo()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(torch.get_num_threads).result() == was
    torch.set_num_threads(1)


def test_jobs_that_nobody_asks_for_any_more_are_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    begun: list[int] = []
    hold = threading.Event()

    def work(job: int) -> int:
        begun.append(job)
        if job:
            hold.wait(30)
        return job

    results = side_by_side(work, range(5))
    assert next(results) == 0
    threading.Timer(0.2, hold.set).start()
    results.close()  # type: ignore[attr-defined]
    assert len(begun) <= 2


def test_short_products_need_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True})
    assert not device.longest_short_product.__wrapped__()
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_vnni": True})
    assert not device.longest_short_product.__wrapped__()


@pytest.mark.skipif(not device.longest_short_product(), reason="this processor has no products in bfloat16")
def test_products_whose_rows_depend_on_each_other_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", lambda rows, *_: rows.float() + rows.float().mean())
    assert not device.longest_short_product.__wrapped__()


def test_products_are_as_long_as_rows_stay_on_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_vnni": True, "avx512_bf16": True})
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    for most, longest in ((10**6, sys.maxsize), (511, device.LONGEST_IN_TILES), (100, 0)):
        monkeypatch.setattr(device, "_has_rows_of_their_own", lambda length, most=most: length <= most)
        assert device.longest_short_product.__wrapped__() == longest


@pytest.mark.parametrize(
    ("limit", "is_used"), [("", True), ("all", True), ("AVX512_CORE_AMX", True), ("AVX512_CORE_BF16", False)]
)
@pytest.mark.parametrize("name", ["ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"])
def test_tiles_are_not_used_where_they_are_ruled_out(
    monkeypatch: pytest.MonkeyPatch, name: str, limit: str, is_used: bool
) -> None:
    for each in ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_int8": True})
    monkeypatch.setattr(torch.cpu, "_init_amx", lambda: True)
    monkeypatch.setenv(name, limit)
    assert device.has_tiles() is is_used
    monkeypatch.setattr(torch.cpu, "_init_amx", lambda: False)
    assert not device.has_tiles()


@pytest.mark.skipif(not device.has_tiles(), reason="this processor has no tiles")
def test_with_tiles_sums_have_a_length_up_to_which_bits_stay() -> None:
    assert device.longest_short_product() == device.LONGEST_IN_TILES


def test_more_products_are_remembered_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"
    monkeypatch.setenv(name, "7")
    device.keep_compiled_products()
    assert os.environ[name] == "7"
    monkeypatch.delenv(name)
    device.keep_compiled_products()
    assert os.environ[name] == str(device.COMPILED)
