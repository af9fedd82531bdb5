"""``AbsentStreams``: the refusals of a driver without streams that libraries share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ...model.enums import Backend
from ...model.errors import FeatureNotSupportedError

__all__ = ["AbsentStreams"]


class AbsentStreams:
    """The methods of ``BackendProtocol`` for streams of other libraries, which raise ``FeatureNotSupportedError``.

    Attributes
    ----------
    backend
        the back end.
    streams_absent
        first words of the error: what the driver lacks.
    """

    backend: Backend
    streams_absent: str

    def make_stream_wait(self, context: object, device: object, stream: int, waits: Sequence[object]) -> NoReturn:
        self._refuse_stream()

    def wait_for_stream(self, queue: object, stream: int) -> NoReturn:
        self._refuse_stream()

    def _refuse_stream(self) -> NoReturn:
        raise FeatureNotSupportedError(
            f"{self.streams_absent}: wait on the host, with event.wait() and the other library's own call",
            backend=str(self.backend),
        )
