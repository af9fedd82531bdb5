"""Streams, events, host functions, captures and graphs."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from .driver_rig import Rig, ffi, lib

X = np.arange(4096, dtype=np.float32)


def check_the_default_stream_waits_for_others(rig: Rig) -> None:
    """Work of a blocking stream that waits for a value comes before later work of the default stream."""
    stream = rig.get("CUstream *", "cuStreamCreate", 0)
    flag, target = rig.upload(np.zeros(1, np.uint32)), rig.upload(np.zeros(1, np.uint32))
    host = rig.get("void **", "cuMemHostAlloc", 4, 0)
    rig.call("cuStreamWaitValue32_v2", stream, flag, 1, lib.CU_STREAM_WAIT_VALUE_EQ)
    rig.call("cuMemsetD32Async", target, 5, 1, stream)
    rig.call("cuMemcpyDtoHAsync_v2", host, target, 4, ffi.NULL)
    assert lib.cuStreamQuery(stream) == 600
    other = rig.get("CUstream *", "cuStreamCreate", lib.CU_STREAM_NON_BLOCKING)
    rig.call("cuMemsetD32Async", flag, 1, 1, other)
    rig.call("cuCtxSynchronize")
    assert ffi.cast("unsigned *", host)[0] == 5


def check_events_order_streams_and_have_times(rig: Rig) -> None:
    first = rig.get("CUstream *", "cuStreamCreate", lib.CU_STREAM_NON_BLOCKING)
    second = rig.get("CUstream *", "cuStreamCreate", lib.CU_STREAM_NON_BLOCKING)
    start = rig.get("CUevent *", "cuEventCreate", 0)
    end = rig.get("CUevent *", "cuEventCreate", 0)
    rig.call("cuEventQuery", start)
    rig.refuses(400, "cuEventElapsedTime_v2", ffi.new("float *"), start, end)
    pointer = rig.upload(np.zeros(4, np.uint32))
    rig.call("cuEventRecord", start, first)
    for value in range(1, 5):
        rig.call("cuMemsetD32Async", pointer, value, 4, first if value % 2 else second)
        rig.call("cuEventRecord", end, first if value % 2 else second)
        rig.call("cuStreamWaitEvent", second if value % 2 else first, end, 0)
    rig.call("cuEventSynchronize", end)
    assert (rig.download(pointer, np.zeros(4, np.uint32)) == 4).all()
    assert rig.get("float *", "cuEventElapsedTime_v2", start, end) >= 0


def check_host_functions_run_in_order(rig: Rig) -> None:
    seen: list[int] = []
    functions = [ffi.callback("void (*)(void *)", lambda _, n=n: seen.append(n)) for n in range(5)]
    stream = rig.get("CUstream *", "cuStreamCreate", 0)
    for function in functions:
        rig.call("cuLaunchHostFunc", stream, function, ffi.NULL)
    rig.call("cuStreamSynchronize", stream)
    assert seen == list(range(5))


def check_each_thread_has_its_default_stream(rig: Rig) -> None:
    numbers: list[int] = []

    def ask() -> None:
        rig.call("cuCtxSetCurrent", rig.context)
        number = ffi.new("unsigned long long *")
        rig.call("cuStreamGetId", ffi.cast("CUstream", 2), number)
        numbers.append(number[0])

    barrier = threading.Barrier(3)
    threads = [threading.Thread(target=lambda: (ask(), barrier.wait())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ask()
    own, legacy = ffi.new("unsigned long long *"), ffi.new("unsigned long long *")
    rig.call("cuStreamGetId_ptsz", ffi.NULL, own)
    rig.call("cuStreamGetId", ffi.NULL, legacy)
    assert own[0] == numbers[-1] and legacy[0] not in numbers and len(set(numbers)) == len(numbers)


def capture(rig: Rig, stream: object) -> None:
    rig.call("cuStreamBeginCapture_v2", stream, lib.CU_STREAM_CAPTURE_MODE_GLOBAL)


def check_a_captured_graph_replays(rig: Rig) -> None:
    function = rig.function(rig.module(), b"axpy")
    x, y = rig.upload(X), rig.upload(np.zeros_like(X))
    stream = rig.get("CUstream *", "cuStreamCreate", 0)
    capture(rig, stream)
    rig.axpy(function, 1, x, y, X.size, stream)
    rig.axpy(function, 2, x, y, X.size, stream)
    graph = ffi.new("CUgraph *")
    rig.call("cuStreamEndCapture", stream, graph)
    count = ffi.new("size_t *")
    rig.call("cuGraphGetNodes", graph[0], ffi.NULL, count)
    assert count[0] == 2 and not rig.download(y, X).any()
    executable = rig.get("CUgraphExec *", "cuGraphInstantiateWithFlags", graph[0], 0)
    rig.call("cuGraphDestroy", graph[0])
    for _ in range(3):
        rig.call("cuGraphLaunch", executable, stream)
    rig.call("cuStreamSynchronize", stream)
    assert np.array_equal(rig.download(y, X), 9 * X)
    rig.call("cuGraphExecDestroy", executable)


def check_a_capture_tells_its_latest_nodes(rig: Rig) -> None:
    function = rig.function(rig.module(), b"axpy")
    x, y = rig.upload(X), rig.upload(X)
    stream = rig.get("CUstream *", "cuStreamCreate", 1)
    status, number, count = ffi.new("CUstreamCaptureStatus *"), ffi.new("cuuint64_t *"), ffi.new("size_t *")
    graph, nodes, edges = ffi.new("CUgraph *"), ffi.new("CUgraphNode **"), ffi.new("CUgraphEdgeData **")
    rig.call("cuStreamGetCaptureInfo_v3", stream, status, number, graph, nodes, edges, count)
    assert status[0] == lib.CU_STREAM_CAPTURE_STATUS_NONE
    capture(rig, stream)
    latest = []
    for turn in range(3):
        rig.call("cuStreamGetCaptureInfo_v3", stream, status, number, graph, nodes, edges, count)
        assert status[0] == lib.CU_STREAM_CAPTURE_STATUS_ACTIVE and count[0] == min(turn, 1)
        latest += [nodes[0][i] for i in range(count[0])]
        rig.axpy(function, 1, x, y, X.size, stream)
    result, total = ffi.new("CUgraph *"), ffi.new("size_t *", 3)
    rig.call("cuStreamEndCapture", stream, result)
    all_nodes = ffi.new("CUgraphNode[3]")
    rig.call("cuGraphGetNodes", result[0], all_nodes, total)
    assert result[0] == graph[0] and latest == list(all_nodes)[:2] and edges[0] == ffi.NULL
    rig.call("cuGraphDestroy", result[0])


def check_profilers_start_and_stop(rig: Rig) -> None:
    status = ffi.new("CUdriverProcAddressQueryResult *")
    for name in (b"cuProfilerStart", b"cuProfilerStop"):
        pointer = ffi.new("void **")
        rig.call("cuGetProcAddress_v2", name, pointer, 13000, 0, status)
        assert ffi.cast("CUresult (*)(void)", pointer[0])() == 0


def check_a_capture_spans_streams_that_wait_for_it(rig: Rig) -> None:
    first = rig.get("CUstream *", "cuStreamCreate", 0)
    second = rig.get("CUstream *", "cuStreamCreate", 0)
    fork = rig.get("CUevent *", "cuEventCreate", 0)
    join = rig.get("CUevent *", "cuEventCreate", 0)
    pointer = rig.upload(np.zeros(3, np.uint32))
    for joins in (True, False):
        capture(rig, first)
        rig.call("cuMemsetD32Async", pointer, 1, 3, first)
        rig.call("cuEventRecord", fork, first)
        rig.call("cuStreamWaitEvent", second, fork, 0)
        rig.call("cuMemsetD32Async", pointer + 4, 2, 2, second)
        rig.call("cuEventRecord", join, second)
        graph = ffi.new("CUgraph *")
        if joins:
            rig.call("cuStreamWaitEvent", first, join, 0)
            rig.call("cuMemsetD32Async", pointer + 8, 3, 1, first)
            rig.call("cuStreamEndCapture", first, graph)
            executable = rig.get("CUgraphExec *", "cuGraphInstantiateWithFlags", graph[0], 0)
            rig.call("cuGraphLaunch", executable, first)
            rig.call("cuStreamSynchronize", first)
        else:
            rig.refuses(904, "cuStreamEndCapture", first, graph)
    assert rig.download(pointer, np.zeros(3, np.uint32)).tolist() == [1, 2, 3]


def check_a_stream_may_end_in_a_capture_that_waits_for_it(rig: Rig) -> None:
    event = rig.get("CUevent *", "cuEventCreate", 0)
    pointer = rig.upload(np.zeros(2, np.uint32))
    for ends_first in (False, True):
        first, second = (rig.get("CUstream *", "cuStreamCreate", 0) for _ in range(2))
        capture(rig, first)
        rig.call("cuEventRecord", event, first)
        rig.call("cuStreamWaitEvent", second, event, 0)
        rig.call("cuMemsetD32Async", pointer, 7, 1, second)
        rig.call("cuEventRecord", event, second)
        rig.call("cuStreamDestroy_v2", first if ends_first else second)
        if ends_first:
            rig.refuses(901, "cuMemsetD32Async", pointer, 9, 2, second)
            rig.call("cuStreamDestroy_v2", second)
            continue
        rig.call("cuStreamWaitEvent", first, event, 0)
        rig.call("cuMemsetD32Async", pointer + 4, 8, 1, first)
        graph = ffi.new("CUgraph *")
        rig.call("cuStreamEndCapture", first, graph)
        executable = rig.get("CUgraphExec *", "cuGraphInstantiateWithFlags", graph[0], 0)
        rig.call("cuGraphLaunch", executable, first)
        rig.call("cuStreamSynchronize", first)
        assert rig.download(pointer, np.zeros(2, np.uint32)).tolist() == [7, 8]


def check_a_call_that_waits_invalidates_a_capture(rig: Rig) -> None:
    stream = rig.get("CUstream *", "cuStreamCreate", 0)
    capture(rig, stream)
    rig.refuses(900, "cuStreamSynchronize", stream)
    rig.refuses(901, "cuStreamEndCapture", stream, ffi.new("CUgraph *"))
    status = ffi.new("CUstreamCaptureStatus *")
    rig.call("cuStreamIsCapturing", stream, status)
    assert status[0] == lib.CU_STREAM_CAPTURE_STATUS_NONE
    rig.call("cuStreamSynchronize", stream)


def check_graphs_obey_their_edges(rig: Rig) -> None:
    pointer = rig.upload(np.zeros(4, np.uint32))
    graph = rig.get("CUgraph *", "cuGraphCreate", 0)
    nodes = []
    for value in (3, 2, 1):  # made in the order that the edges turn round
        fill = ffi.new("CUDA_MEMSET_NODE_PARAMS *")
        fill.dst, fill.value, fill.elementSize, fill.width, fill.height = pointer, value, 4, value + 1, 1
        nodes.append(rig.get("CUgraphNode *", "cuGraphAddMemsetNode", graph, ffi.NULL, 0, fill, ffi.NULL))
    for before, after in ((0, 1), (1, 2)):
        rig.call(
            "cuGraphAddDependencies_v2",
            graph,
            ffi.new("CUgraphNode *", nodes[before]),
            ffi.new("CUgraphNode *", nodes[after]),
            ffi.NULL,
            1,
        )
    executable = rig.get("CUgraphExec *", "cuGraphInstantiateWithFlags", graph, 0)
    rig.call("cuGraphLaunch", executable, ffi.NULL)
    assert rig.download(pointer, np.zeros(4, np.uint32)).tolist() == [1, 1, 2, 3]
    rig.call(
        "cuGraphAddDependencies_v2",
        graph,
        ffi.new("CUgraphNode *", nodes[2]),
        ffi.new("CUgraphNode *", nodes[0]),
        ffi.NULL,
        1,
    )
    rig.refuses(1, "cuGraphInstantiateWithFlags", ffi.new("CUgraphExec *"), graph, 0)


def check_an_executable_graph_takes_another_child(rig: Rig) -> None:
    pointer, empty = rig.upload(np.zeros(3, np.uint32)), ffi.NULL

    def fills(*values: int, chain: bool = False) -> Any:
        """A graph that fills one element after the other."""
        graph, nodes = rig.get("CUgraph *", "cuGraphCreate", 0), []
        for i, value in enumerate(values):
            fill = ffi.new("CUDA_MEMSET_NODE_PARAMS *")
            fill.dst, fill.value, fill.elementSize, fill.width, fill.height = pointer + 4 * i, value, 4, 1, 1
            before = ffi.new("CUgraphNode[]", nodes if chain else [])
            nodes.append(rig.get("CUgraphNode *", "cuGraphAddMemsetNode", graph, before, len(before), fill, ffi.NULL))
        return graph

    graph = rig.get("CUgraph *", "cuGraphCreate", 0)
    node = rig.get("CUgraphNode *", "cuGraphAddChildGraphNode", graph, empty, 0, fills(1, 2))
    other = rig.get("CUgraphNode *", "cuGraphAddEmptyNode", graph, empty, 0)
    executable, original = (rig.get("CUgraphExec *", "cuGraphInstantiateWithFlags", graph, 0) for _ in range(2))
    rig.call("cuGraphExecChildGraphNodeSetParams", executable, node, fills(3, 4))
    for one, values in ((executable, [3, 4]), (original, [1, 2]), (executable, [3, 4])):
        rig.call("cuGraphLaunch", one, ffi.NULL)
        assert rig.download(pointer, np.zeros(2, np.uint32)).tolist() == values
    for mistake in (fills(5), fills(5, 6, chain=True), fills(5, 6, 7)):
        rig.refuses(1, "cuGraphExecChildGraphNodeSetParams", executable, node, mistake)
    rig.refuses(1, "cuGraphExecChildGraphNodeSetParams", executable, other, fills(5, 6))
    rig.call("cuGraphLaunch", executable, ffi.NULL)
    assert rig.download(pointer, np.zeros(2, np.uint32)).tolist() == [3, 4]
