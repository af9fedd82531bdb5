"""The driver's own code of an error (CL, "Errors and limitations")."""

from __future__ import annotations

from ..model.errors import Error, InvalidError
from ..model.message_values import shown

__all__ = ["get_error_code"]

_SUCCESS = 0


def get_error_code(error: Error) -> int:
    """The OpenCL code that an exception comes of, such as -11 (CL_BUILD_PROGRAM_FAILURE).

    Parameters
    ----------
    error : Error
        An exception of this package.

    Returns
    -------
    int
        CL_SUCCESS, which is 0, where no OpenCL call failed.

    Raises
    ------
    InvalidError
        It is no exception of the package.
    """
    if not isinstance(error, Error):
        raise InvalidError(f"error={shown(error)}: it is an exception of bindless, a bindless.Error")
    return error.native_code or _SUCCESS if error.backend == "opencl" else _SUCCESS
