"""Results of Level Zero calls as the package's exceptions."""

from __future__ import annotations

from ...drivers import level_zero as driver
from ..common.result_codes import DEVICE_LOST, Results

__all__ = ["NOT_READY", "SUCCESS", "check", "error", "fail", "release"]

lib = driver.lib

SUCCESS = lib.ZE_RESULT_SUCCESS
NOT_READY = lib.ZE_RESULT_NOT_READY

# Results that make a context unusable.
_LOST = frozenset((lib.ZE_RESULT_ERROR_DEVICE_LOST, lib.ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET))

# Results for an object that was destroyed with its context or with the driver.
_GONE = _LOST | frozenset((lib.ZE_RESULT_ERROR_UNINITIALIZED, lib.ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE))

# Results of a function that the driver does not have, for any arguments.
_ABSENT = frozenset((lib.ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, lib.ZE_RESULT_ERROR_UNSUPPORTED_VERSION))

_results = Results(
    driver,
    "level_zero",
    SUCCESS,
    lost=_LOST,
    gone=_GONE,
    advice=DEVICE_LOST,
    is_absent=lambda result, plain: result in _ABSENT,
)
error, fail, check, release = _results.error, _results.fail, _results.check, _results.release
