"""The whole process: import cost, forks, and the interpreter's exit."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import textwrap
import warnings

import pytest

import bindless as bl


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


def selector(device: bl.Device) -> str:
    return f"{device.backend}:{device.type}:*"


def test_importing_opens_no_driver():
    done = run(
        """
        import sys
        import bindless
        heavy = ("bindless.drivers", "bindless.backends", "_cffi", "cffi")
        loaded = [name for name in sys.modules if name.startswith(heavy)]
        assert loaded == [], loaded
        assert "numpy" not in sys.modules
        """
    )
    assert (done.returncode, done.stderr) == (0, "")


# Driver objects: none before the first context, some after it.
MADE = {
    "reference": """
        from bindless.drivers import reference as driver
        def made():
            count = driver.ffi.new("uint64_t *")
            driver.check(driver.lib.blrGetObjectCount(count), "blrGetObjectCount")
            return count[0]
    """,
    "cuda": """
        from bindless.drivers import cuda as driver
        def made():
            flags, active = driver.ffi.new("unsigned int *"), driver.ffi.new("int *")
            driver.check(driver.lib.cuDevicePrimaryCtxGetState(device.index, flags, active), "GetState")
            return active[0]
    """,
    # The drivers have no counters: count the package's contexts.
    "opencl": """
        import gc
        def made():
            return sum(type(found).__module__ == "bindless.backends.opencl.context" for found in gc.get_objects())
    """,
    # The objects of the package's own driver; any other driver has no counter: count the package's contexts.
    "level_zero": """
        import gc
        from bindless.drivers import level_zero as driver
        def made():
            native = device._record.native.driver.handle
            address, count = driver.ffi.new("void **"), driver.ffi.new("uint64_t *")
            if driver.lib.zeDriverGetExtensionFunctionAddress(native, b"bindlessGetObjectCount", address):
                return sum(type(found).__name__ == "NativeContext" for found in gc.get_objects())
            driver.check(driver.ffi.cast("int(*)(uint64_t *)", address[0])(count), "bindlessGetObjectCount")
            return int(count[0] > 0)
    """,
}


def test_choosing_and_asking_devices_initialises_nothing(device):
    """Device queries open the drivers and create no driver objects."""
    done = run(
        f"""
        import bindless as bl
        {MADE[str(device.backend)].strip()}
        device = bl.Device({selector(device)!r})
        for platform in bl.get_platforms():
            platform.get_devices(), platform.get_info("version")
        for other in bl.get_devices():
            other.aspects, other.uuid, bl.Device(lambda candidate: int(candidate == other))
            for descriptor in bl.info.device:
                other.get_info(descriptor)
        assert made() == 0, made()
        context = bl.Context(device)
        assert made() == 1, made()
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_public_name_exists_and_is_listed():
    assert bl.__all__ == sorted(bl.__all__)
    for name in bl.__all__:
        assert getattr(bl, name) is not None
        assert name in dir(bl)
    constants = {
        "SYCL_EXT_ONEAPI_BACKEND_LEVEL_ZERO",
        "SYCL_EXT_ONEAPI_BINDLESS_IMAGES",
        "SYCL_LANGUAGE_VERSION",
        "__version__",
    }
    assert set(bl._HOMES) | constants == set(bl.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Quee'"):
        _ = bl.Quee
    assert bl.SYCL_EXT_ONEAPI_BINDLESS_IMAGES == 6
    assert bl.SYCL_EXT_ONEAPI_BACKEND_LEVEL_ZERO == 3
    assert bl.SYCL_LANGUAGE_VERSION == 202012


@pytest.mark.parametrize(
    "end",
    [
        "",
        "del context, queue, array, event",
        "queue.close()",
        "array.close(); context.close()",
        "import gc; ring = [queue, array, event]; ring.append(ring); del ring, queue, array, event; gc.collect()",
        "import sys; sys.exit(0)",
        "import atexit; atexit.register(lambda: array.numpy())",
    ],
)
def test_the_interpreter_ends_quietly_with_work_under_way(device, end):
    done = run(
        f"""
        import bindless as bl
        context = bl.Context(bl.Device({selector(device)!r}))
        queue = bl.Queue(context=context)
        array = bl.usm_empty(1 << 22, "u1", queue)
        for value in range(50):
            event = queue.memset(array, value)
        queue.submit(lambda handler: handler.host_task(lambda: None))
        {end}
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_memory_outlives_copies_that_threads_make_at_the_end():
    """The host copies a buffer's data out of a closed context while the interpreter exits."""
    done = run(
        """
        import ctypes, threading, time
        import numpy as np
        import bindless as bl
        from bindless.core import ownership as _lifetime
        copy, begun, alive = ctypes.memmove, threading.Event(), []
        def slow(*arguments):
            before = len(_lifetime._live)
            begun.set()
            time.sleep(0.3)
            alive.append(len(_lifetime._live) == before > 0)
            return copy(*arguments)
        context = bl.Context(bl.Device("reference"))
        queue = bl.Queue(context=context)
        data = np.zeros(64, np.int32)
        buffer = bl.Buffer(data)
        queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write"), 3))
        context.close()
        ctypes.memmove = slow
        _lifetime.at_exit(lambda: print(alive, data.sum()))
        threading.Thread(target=buffer.close, daemon=True).start()
        begun.wait()
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[True] 192\n", "")


def test_memory_outlives_its_host_accessors_at_the_end(device):
    """Other threads may read the memory after every other object is released."""
    done = run(
        f"""
        import atexit
        atexit.register(lambda: print((view == 3).all()))  # comes after what the package does at the end
        import numpy as np
        import bindless as bl
        queue = bl.Queue({selector(device)!r})
        buffer = bl.Buffer((1 << 24,), np.int32)
        queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write"), 3))
        accessor = buffer.get_host_access("read")
        view = accessor.array
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_an_error_that_nobody_asked_for_is_told_at_the_end(device):
    done = run(
        f"""
        import bindless as bl
        def task():
            raise KeyError("forgotten")
        queue = bl.Queue({selector(device)!r})
        queue.submit(lambda handler: handler.host_task(task))
        """
    )
    assert done.returncode == 0
    assert done.stderr == (
        "bindless: an asynchronous error was never asked for: a host task raised KeyError: 'forgotten'\n"
    )


def test_a_handler_is_told_at_the_end(device):
    done = run(
        f"""
        import bindless as bl
        def task():
            raise KeyError("late")
        def handler(errors):
            print([str(error) for error in errors])
            raise OSError("of the handler")
        queue = bl.Queue({selector(device)!r}, async_handler=handler)
        queue.submit(lambda handler: handler.host_task(task))
        """
    )
    assert done.returncode == 0
    assert done.stdout == """["a host task raised KeyError: 'late'"]\n"""
    assert done.stderr == "bindless: the async_handler raised OSError: of the handler\n"


FORK = """
import os, sys
import numpy as np
import bindless as bl
queue = bl.Queue({selector!r})
shared = queue.device.has("usm_shared_allocations")
array = bl.usm_empty(64, "u1", queue, kind="shared" if shared else "device")
event = queue.memset(array, 5)
numbers = np.zeros(4, np.int32)
buffer, other = bl.Buffer(numbers), bl.Buffer(numbers.copy())
queue.submit(lambda h: h.fill(buffer.get_access(h, "write"), 3))
held = other.get_host_access()
later = queue.submit(lambda h: h.fill(other.get_access(h, "write"), 4))
child = os.fork()
if child == 0:
    failures = []
    for use in (
        queue.wait, event.wait, lambda: queue.memset(array, 1), lambda: bl.usm_empty(4, "u1", queue),
        lambda: bl.Queue({selector!r}), lambda: bl.Context(queue.device), bl.get_devices, queue.context.__enter__,
        buffer.get_host_access, lambda: buffer.sub_buffer(0, 1), lambda: buffer.reinterpret(4),
    ):
        try:
            use()
            failures.append("no error")
        except bl.SyclRuntimeError as error:
            if "fork" not in str(error):
                failures.append(str(error))
    queue.close()
    array.close()
    buffer.close()
    del held, other
    sys.stdout.write(repr(failures))
    sys.stdout.flush()
    if queue.backend == "opencl":
        os._exit(0)  # Intel's runtime waits at a child's end for threads that the child does not have
    sys.exit(0)
status = os.waitpid(child, 0)[1]
event.wait()
assert array.numpy(queue).tolist() == [5] * 64
buffer.close()
held.close()
assert numbers.tolist() == [3] * 4
later.wait()
assert status == 0, status
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_is_told_and_the_parent_goes_on(device):
    done = run(FORK.format(selector=selector(device)))
    assert (done.stderr, done.stdout, done.returncode) == ("", "[]", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_that_lists_devices_is_told_of_all_drivers_that_were_opened(device):
    done = run(
        f"""
        import os
        import bindless as bl
        device = bl.Device({selector(device)!r})
        child = os.fork()
        if child == 0:
            for use in (bl.get_devices, lambda: bl.Queue({selector(device)!r}), bl.Device):
                try:
                    use()
                    print("no error")
                except bl.SyclRuntimeError as error:
                    names = [name for name in bl.Backend if str(name) in str(error).split("were opened")[0]]
                    print(device.backend in names, error.code, "spawn" in str(error), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        """
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True runtime True\n" * 3, "", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_before_the_first_device_is_harmless(device):
    done = run(
        f"""
        import os
        import bindless as bl
        bl.Queue
        child = os.fork()
        with bl.Queue({selector(device)!r}) as queue:
            array = bl.usm_empty(4, "u1", queue).copy_from(7)
            assert array.numpy().tolist() == [7] * 4
        if child:
            assert os.waitpid(child, 0)[1] == 0
        """
    )
    assert (done.returncode, done.stderr) == (0, "")


def _square(name: str) -> list[int]:
    with bl.Queue(name) as queue:
        return [int(value) for value in bl.usm_empty(3, "u1", queue).copy_from(9).numpy()]


def test_spawned_processes_work_beside_the_parent(device):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.apply(_square, (selector(device),)) == [9] * 3


SUBINTERPRETERS = """
    import sys
    try:
        import _interpreters as interpreters
    except ImportError:
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            sys.exit(print("no module of subinterpreters"))
    if sys.argv[1] == "1":
        import bindless as bl
        bl.Queue("reference")
    program = '''if True:
        import bindless as bl
        try:
            bl.get_platforms()
        except ImportError as error:
            print(type(error).__name__, "subinterpreter" in str(error), flush=True)
    '''
    for _ in range(2):
        made = interpreters.create()
        interpreters.run_string(made, program)
        interpreters.destroy(made)
    import bindless as bl
    print(bl.Queue("reference").backend)
"""


@pytest.mark.parametrize("used", [False, True])
def test_a_subinterpreter_is_refused(used: bool) -> None:
    """The package, or a Python with per-interpreter locks, refuses the subinterpreter; the main interpreter goes on."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(SUBINTERPRETERS), str(int(used))],
        capture_output=True,
        text=True,
        timeout=120,
    )
    if "no module of subinterpreters" in done.stdout:
        pytest.skip("this Python offers no subinterpreters")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["ImportError True", "ImportError True", "reference"]
