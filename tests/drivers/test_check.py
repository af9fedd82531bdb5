"""Every error code of every API has an explanation and maps to the right error class."""

from __future__ import annotations

import importlib
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import pytest

from bindless.model.enums import Errc
from bindless.model.errors import (
    BuildError,
    Error,
    FeatureNotSupportedError,
    InvalidError,
    MemoryAllocationError,
    SyclRuntimeError,
)
from tests.support.error_checks import raises

from .conftest import DRIVERS

RESULTS = {
    "cuda": ("CUresult", "CUDA_SUCCESS"),
    "level_zero": ("ze_result_t", "ZE_RESULT_SUCCESS"),
    "opencl": ("cl_result", "CL_SUCCESS"),
    "reference": ("blr_result_t", "BLR_RESULT_SUCCESS"),
}


def driver(name: str) -> ModuleType:
    return importlib.import_module(f"bindless.drivers.{name}")


def codes(name: str) -> dict[str, int]:
    enum, success = RESULTS[name]
    members = getattr(importlib.import_module(f"bindless.drivers.{name}._enums"), enum).__members__
    return {member: int(value) for member, value in members.items() if member != success}


def explanations(name: str) -> dict[str, Any]:
    return dict(importlib.import_module(f"bindless.drivers.{name}._error_table").EXPLANATIONS)


@pytest.mark.parametrize("name", DRIVERS)
def test_every_code_of_the_header_is_explained_and_no_other(name: str) -> None:
    assert set(explanations(name)) == set(codes(name))


@pytest.mark.parametrize("name", DRIVERS)
def test_explanations_are_sentences_of_their_own(name: str) -> None:
    texts = [text for _, text in explanations(name).values()]
    for text in texts:
        assert len(text.split()) >= 3 and not text.startswith(("CU", "ZE", "CL", "BLR"))
        assert not text.endswith(".") and len(text) < 120


@pytest.mark.parametrize(("name", "code"), [(name, code) for name in DRIVERS for code in codes(name)])
def test_check_raises_each_code_with_its_name_and_meaning(name: str, code: str) -> None:
    value = codes(name)[code]
    # A new thread has no last error: the message of an earlier failure must not replace the explanation.
    with ThreadPoolExecutor(1) as thread, pytest.raises(Error) as caught:
        thread.submit(driver(name).check, value, "someCall(1, 2)").result()
    errc, meaning = explanations(name)[code]
    error = caught.value
    assert str(error) == f"{code}: {meaning} (in someCall(1, 2))"
    assert (error.code, error.backend, error.native_code, error.native_name) == (errc, name, value, code)


@pytest.mark.parametrize("name", DRIVERS)
def test_success_raises_nothing(name: str) -> None:
    driver(name).check(0, "someCall")


@pytest.mark.parametrize("name", DRIVERS)
def test_an_unknown_code_is_a_runtime_error_with_the_number(name: str) -> None:
    with raises(SyclRuntimeError, names=("someCall", 424242)):
        driver(name).check(424242, "someCall")


@pytest.mark.parametrize(
    ("name", "code", "kind"),
    [
        ("cuda", "CUDA_ERROR_OUT_OF_MEMORY", MemoryAllocationError),
        ("cuda", "CUDA_ERROR_INVALID_VALUE", InvalidError),
        ("cuda", "CUDA_ERROR_NOT_SUPPORTED", FeatureNotSupportedError),
        ("cuda", "CUDA_ERROR_INVALID_PTX", BuildError),
        ("cuda", "CUDA_ERROR_UNKNOWN", SyclRuntimeError),
        ("level_zero", "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", MemoryAllocationError),
        ("level_zero", "ZE_RESULT_ERROR_INVALID_SIZE", InvalidError),
        ("level_zero", "ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT", FeatureNotSupportedError),
        ("level_zero", "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE", BuildError),
        ("level_zero", "ZE_RESULT_ERROR_DEVICE_LOST", SyclRuntimeError),
        ("opencl", "CL_MEM_OBJECT_ALLOCATION_FAILURE", MemoryAllocationError),
        ("opencl", "CL_INVALID_IMAGE_SIZE", InvalidError),
        ("opencl", "CL_IMAGE_FORMAT_NOT_SUPPORTED", FeatureNotSupportedError),
        ("opencl", "CL_BUILD_PROGRAM_FAILURE", BuildError),
        ("opencl", "CL_OUT_OF_RESOURCES", SyclRuntimeError),
        ("reference", "BLR_RESULT_OUT_OF_MEMORY", MemoryAllocationError),
        ("reference", "BLR_RESULT_INVALID_HANDLE", InvalidError),
        ("reference", "BLR_RESULT_UNSUPPORTED", FeatureNotSupportedError),
        ("reference", "BLR_RESULT_DEPENDENCY_FAILED", SyclRuntimeError),
    ],
)
def test_classes_of_errors(name: str, code: str, kind: type[Error]) -> None:
    with pytest.raises(kind):
        driver(name).check(codes(name)[code], "someCall")


def test_an_error_can_be_made_without_being_raised() -> None:
    error = driver("cuda").error(2, "cuMemAlloc")
    assert isinstance(error, MemoryAllocationError) and error.code is Errc.memory_allocation


def test_the_reference_driver_speaks_for_itself() -> None:
    """The driver's own message, with the values concerned, replaces the general explanation."""
    reference = driver("reference")
    reference.load()
    result = reference.lib.blrQueueQuery(reference.ffi.NULL)
    message = reference.ffi.new("char const **")
    code = reference.ffi.new("blr_result_t *")
    reference.lib.blrGetLastError(code, message)
    sentence = reference.ffi.string(message[0]).decode()
    with pytest.raises(InvalidError) as caught:
        reference.check(result, "blrQueueQuery(NULL)")
    assert code[0] == result == reference.blr_result_t.BLR_RESULT_INVALID_HANDLE
    assert str(caught.value) == f"BLR_RESULT_INVALID_HANDLE: {sentence} (in blrQueueQuery(NULL))"
