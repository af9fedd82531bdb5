"""``from_dlpack``: arrays of other libraries without a copy, and refusals."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import bindless as bl
from tests.support.dlpack_peer import READ_ONLY, Producer
from tests.support.error_checks import raises


@pytest.fixture
def host_queue(queue, device):
    """A queue whose device accesses pageable host memory."""
    if device.has("usm_system_allocations"):
        yield queue
    else:
        with bl.Queue("reference:*:*") as made:
            yield made


FORMS = [
    {"version": (1, 0)},
    {"version": (1, 3)},
    {"version": None},
    {"version": None, "knows_versions": False},
    {"version": (1, 0), "offset": 64},
    {"version": (1, 0), "strides": False},
]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_exporters_memory_in_place(host_queue, form):
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    producer = Producer(values, **form)
    array = bl.from_dlpack(producer, host_queue)
    assert producer.asked == [{"max_version": (1, 1)} if producer.knows_versions else {}]
    assert (array.shape, array.dtype, array.strides) == ((4, 6), np.float32, (24, 4))
    assert array.address == values.ctypes.data and array.kind == "host" and not array.read_only
    np.testing.assert_array_equal(array.numpy(), values)
    host_queue.fill(array[1], -1.0).wait()
    assert (values[1] == -1).all()
    values[2] = 5
    assert (array[2].numpy() == 5).all()


@pytest.mark.parametrize("key", [np.s_[::-1, ::2], np.s_[:, 1:4], np.s_[3], np.s_[::-1, ::-1], np.s_[1:2]], ids=str)
@pytest.mark.parametrize("transposed", [False, True])
def test_strides_of_any_kind(host_queue, key, transposed):
    whole = np.arange(24, dtype=np.int64).reshape(4, 6)
    values = whole[key].T if transposed else whole[key]
    array = bl.from_dlpack(Producer(values), host_queue)
    assert array.shape == values.shape and array.strides == values.strides
    np.testing.assert_array_equal(array.numpy(), values)
    array.copy_from(values * 2)
    np.testing.assert_array_equal(whole[key].T if transposed else whole[key], values)
    np.testing.assert_array_equal(array[..., ::-1].numpy(), values[..., ::-1])
    pointer = array.pointer
    assert 0 < pointer.nbytes <= whole.nbytes


def test_negative_strides_that_were_divided_as_unsigned_numbers(host_queue):
    values = np.arange(24, dtype=np.float32).reshape(4, 6)[::-1]
    producer = Producer(values)
    producer._strides[0] = (2**64 - 24) // 4
    array = bl.from_dlpack(producer, host_queue)
    assert array.strides == (-24, 4)
    np.testing.assert_array_equal(array.numpy(), values)


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_numpy_arrays_of_every_type(host_queue, dtype):
    values = np.array([[0, 1], [1, 0]], dtype)
    array = bl.from_dlpack(values, host_queue)
    assert array.dtype == values.dtype and array.address == values.ctypes.data
    again = np.from_dlpack(array)
    assert again.ctypes.data == values.ctypes.data  # through both libraries and back
    again[0, 0] = 1
    assert values[0, 0] == 1


@pytest.mark.parametrize("shape", [(0,), (3, 0), ()])
def test_without_elements_and_without_dimensions(host_queue, shape):
    values = np.ones(shape, "f4")
    array = bl.from_dlpack(Producer(values), host_queue)
    assert array.shape == shape
    np.testing.assert_array_equal(array.numpy(), values)
    if values.size == 0:
        empty = bl.from_dlpack(Producer(values, data=0), host_queue)
        assert empty.numpy().shape == shape


def test_ordinary_host_memory_stays_the_hosts(queue, device, monkeypatch):
    """Host memory keeps the DLPack device of the CPU, on devices with another DLPack device type too."""
    has = bl.Device.has
    monkeypatch.setattr(bl.Device, "has", lambda self, aspect: aspect == "usm_system_allocations" or has(self, aspect))
    for values in (np.arange(6.0), np.empty((2, 0))):
        for array in (bl.from_dlpack(Producer(values), queue), bl.as_usm_array(values, queue)):
            assert array.device == device and array.__dlpack_device__() == (1, 0)
            seen = np.from_dlpack(array)
            assert seen.ctypes.data == values.ctypes.data or not values.size
            np.testing.assert_array_equal(seen, values)
    allocated = bl.usm_empty(6, "f8", queue, kind="host").copy_from(range(6))
    again = bl.as_usm_array(np.asarray(allocated), queue)  # passed on as a host array, yet the driver knows the address
    assert again.__dlpack_device__() == allocated.__dlpack_device__()
    np.testing.assert_array_equal(again.numpy(), range(6))


def test_an_exporter_that_nobody_else_holds(host_queue):
    array = bl.from_dlpack(Producer(np.arange(24.0).reshape(4, 6)), host_queue)
    gc.collect()
    np.testing.assert_array_equal(array.numpy(), np.arange(24.0).reshape(4, 6))
    array.close()
    gc.collect()


def test_without_a_queue_host_memory_goes_to_the_reference_device():
    values = np.arange(5.0)
    array = bl.from_dlpack(values)
    assert array.device.backend == "reference" and array.address == values.ctypes.data
    with bl.Queue(array.device) as queue:  # a queue of the default context
        queue.fill(array, 2.5).wait()
    assert (values == 2.5).all()


def test_a_copy_where_one_is_asked_for(host_queue):
    values = np.arange(6.0)
    producer = Producer(values)
    array = bl.from_dlpack(producer, host_queue, copy=True)
    gc.collect()
    assert array.address != values.ctypes.data and producer.deleted == 1
    np.testing.assert_array_equal(array.numpy(), values)
    array.close()


# ---------------------------------------------------------------------- lifetimes


@pytest.mark.parametrize("form", [{"version": (1, 0)}, {"version": None}], ids=str)
def test_the_deleter_is_called_once_with_the_last_view(host_queue, form):
    producer = Producer(np.arange(6.0), **form)
    array = bl.from_dlpack(producer, host_queue)
    view, pointer = array[2:], array.pointer
    del array
    gc.collect()
    assert producer.deleted == 0
    del view
    gc.collect()
    assert producer.deleted == 0
    del pointer
    gc.collect()
    assert producer.deleted == 1


def test_closing_gives_the_memory_back_once(host_queue):
    producer = Producer(np.arange(6.0))
    array = bl.from_dlpack(producer, host_queue)
    with raises(bl.InvalidError):
        bl.free(array)
    assert producer.deleted == 0
    array.close()
    array.close()
    assert producer.deleted == 1 and array.closed
    with raises(bl.InvalidError):
        array.numpy()
    del array
    gc.collect()
    assert producer.deleted == 1


def test_unfinished_work_keeps_the_exporters_memory(host_queue):
    values = np.zeros(1 << 22, np.float32)
    producer = Producer(values)
    array = bl.from_dlpack(producer, host_queue)
    events = host_queue.fill(array, 1.0)
    for value in range(2, 6):
        events = host_queue.fill(array, float(value), depends_on=events)
    array.close()
    assert producer.deleted == 1 and (values == 5).all()


def test_re_exported_memory_keeps_the_first_exporter(host_queue):
    producer = Producer(np.arange(6.0))
    array = bl.from_dlpack(producer, host_queue)
    seen = np.from_dlpack(array)
    array.close()
    del array
    gc.collect()
    assert producer.deleted == 0
    np.testing.assert_array_equal(seen, np.arange(6.0))
    del seen
    assert producer.deleted == 1


def test_importing_often_leaves_nothing(host_queue):
    producer = Producer(np.arange(6.0))
    for _ in range(500):
        bl.from_dlpack(producer, host_queue)
    gc.collect()
    assert producer.deleted == 500


# ---------------------------------------------------------------------- capsules


def test_a_capsule_itself(host_queue):
    producer = Producer(np.arange(6.0))
    capsule = producer.__dlpack__(max_version=(1, 0))
    array = bl.from_dlpack(capsule, host_queue)
    assert array.address == producer.array.ctypes.data
    with raises(bl.InvalidError):
        bl.from_dlpack(capsule, host_queue)
    del array
    gc.collect()
    assert producer.deleted == 1


def test_capsules_of_other_kinds(host_queue):
    import datetime

    with raises(bl.InvalidError, names="DLPack"):
        bl.from_dlpack(datetime.datetime_CAPI, host_queue)


# ---------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "form, message",
    [
        ({"version": (2, 0)}, "speaks DLPack 2.0, this package up to 1.x"),
        ({"type_": (4, 16, 1)}, ("bfloat16", "tensor.view(torch.int16)")),
        ({"type_": (2, 32, 4)}, r"elements of float32 x 4 lanes"),
        ({"type_": (2, 128, 1)}, "float128"),
        ({"type_": (3, 64, 1)}, "handle64"),
        ({"type_": (10, 8, 1)}, r"elements of type 10 of8"),
        ({"type_": (0, 4, 1)}, "int4"),
        ({"ndim": -1}, "-1 dimensions without a shape"),
        ({"shape": None}, "1 dimensions without a shape"),
        ({"data": 0}, None),
        ({"device_id": 0, "data": 2**64 - 8}, None),
        ({"data": 4097}, ("8", "float64")),
    ],
    ids=str,
)
def test_tensors_that_cannot_be(host_queue, form, message):
    producer = Producer(np.arange(6.0), **form)
    with raises(bl.InvalidError, names=message):
        bl.from_dlpack(producer, host_queue)
    assert producer.deleted == 0  # the capsule was not consumed: the exporter still owns it


def test_negative_sizes(host_queue):
    producer = Producer(np.arange(6.0))
    producer._shape[0] = -6
    with raises(bl.InvalidError, names="shape (-6,)"):
        bl.from_dlpack(producer, host_queue)


@pytest.mark.parametrize("x", [1.5, "text", None, object(), [1, 2], type("Half", (), {"__dlpack__": None})()])
def test_objects_that_export_nothing(host_queue, x):
    with raises(bl.InvalidError, names="DLPack"):
        bl.from_dlpack(x, host_queue)


def test_memory_of_devices_that_nobody_here_has(host_queue):
    for kind, name in ((8, "metal"), (10, "rocm"), (99, "DLPack device type 99")):
        with raises(bl.InvalidError, names=(name, 0)):
            bl.from_dlpack(Producer(np.arange(3.0), device=(kind, 0)), host_queue)
    for place in ((8, 0), (14, 3)):
        with raises(bl.InvalidError, names=("DLPack", "queue=")):
            bl.from_dlpack(Producer(np.arange(3.0), device=place))


def test_memory_of_another_backend(queue, device):
    place = (14, 0) if device.backend == "cuda" else (2, 0)
    with raises(bl.InvalidError, names="<Queue"):
        bl.from_dlpack(Producer(np.arange(3.0), device=place), queue)


def test_host_memory_that_the_device_does_not_reach(queue, device):
    if device.has("usm_system_allocations"):
        assert bl.from_dlpack(np.arange(3.0), queue).numpy().tolist() == [0, 1, 2]
        return
    with raises(bl.InvalidError, names="usm_empty"):
        bl.from_dlpack(np.arange(3.0), queue)


def test_an_exporter_that_fails_says_why_itself(host_queue):
    class Failing:
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **_):
            raise BufferError("it is being resized")

    with pytest.raises(BufferError, match="it is being resized"):
        bl.from_dlpack(Failing(), host_queue)


def test_a_closed_queue(device, context):
    queue = bl.Queue(device, context)
    queue.close()
    with raises(bl.InvalidError):
        bl.from_dlpack(np.arange(3.0), queue)


# ---------------------------------------------------------------------- read-only memory


def test_memory_lent_for_reading_is_not_written(host_queue):
    values = np.arange(6, dtype=np.float32)
    array = bl.from_dlpack(Producer(values, flags=READ_ONLY), host_queue)
    assert array.read_only and array[2:].read_only
    other = bl.usm_empty(6, "f4", host_queue)
    writes = (
        lambda: array.copy_from(1),
        lambda: host_queue.memcpy(array, values),
        lambda: host_queue.fill(array, 1.0),
        lambda: host_queue.memset(array[1:], 1),
        lambda: host_queue.copy(other, array.pointer, 24),
        lambda: host_queue.ext_oneapi_copy(
            values,
            array,
            src_desc=bl.ImageDescriptor(6, num_channels=1),
            dst_desc=bl.ImageDescriptor(6, num_channels=1),
        ),
    )
    for write in writes:
        with raises(bl.InvalidError, names="array.copy()"):
            write()
    host_queue.memcpy(other, array).wait()
    np.testing.assert_array_equal(other.numpy(), values)
    assert not np.asarray(array).flags.writeable
    assert not np.from_dlpack(array).flags.writeable
    with pytest.raises(BufferError, match=r"only DLPack 1.0 can say: ask with max_version=\(1, 0\)"):
        array.__dlpack__()
    copy = array.copy()
    assert not copy.read_only
    copy.copy_from(1)
    assert values.tolist() == [0, 1, 2, 3, 4, 5]
