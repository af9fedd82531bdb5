"""Drop-in functions for those of OpenCV that resample pictures, with exact weights, computed on devices.

Signatures, flags and border modes are OpenCV's, by their numbers; OpenCV itself is not imported. Pictures are indexed
[y, x] or [y, x, channel], sizes are (width, height), and the centre of the first pixel is at 0. Arrays may be of any
library; results are of the same.
"""

from . import fisheye as fisheye
from .constants import (
    BORDER_CONSTANT as BORDER_CONSTANT,
)
from .constants import (
    BORDER_DEFAULT as BORDER_DEFAULT,
)
from .constants import (
    BORDER_ISOLATED as BORDER_ISOLATED,
)
from .constants import (
    BORDER_REFLECT as BORDER_REFLECT,
)
from .constants import (
    BORDER_REFLECT101 as BORDER_REFLECT101,
)
from .constants import (
    BORDER_REFLECT_101 as BORDER_REFLECT_101,
)
from .constants import (
    BORDER_REPLICATE as BORDER_REPLICATE,
)
from .constants import (
    BORDER_TRANSPARENT as BORDER_TRANSPARENT,
)
from .constants import (
    BORDER_WRAP as BORDER_WRAP,
)
from .constants import (
    CV_32FC1 as CV_32FC1,
)
from .constants import (
    CV_32FC2 as CV_32FC2,
)
from .constants import (
    INTER_AREA as INTER_AREA,
)
from .constants import (
    INTER_CUBIC as INTER_CUBIC,
)
from .constants import (
    INTER_LANCZOS4 as INTER_LANCZOS4,
)
from .constants import (
    INTER_LINEAR as INTER_LINEAR,
)
from .constants import (
    INTER_LINEAR_EXACT as INTER_LINEAR_EXACT,
)
from .constants import (
    INTER_MAX as INTER_MAX,
)
from .constants import (
    INTER_NEAREST as INTER_NEAREST,
)
from .constants import (
    INTER_NEAREST_EXACT as INTER_NEAREST_EXACT,
)
from .constants import (
    WARP_FILL_OUTLIERS as WARP_FILL_OUTLIERS,
)
from .constants import (
    WARP_INVERSE_MAP as WARP_INVERSE_MAP,
)
from .constants import (
    WARP_RELATIVE_MAP as WARP_RELATIVE_MAP,
)
from .lenses import initUndistortRectifyMap, undistort, undistortPoints
from .pyramids import pyrDown, pyrUp
from .resizing import resize
from .warping import remap, warpAffine, warpPerspective

__all__ = [
    "initUndistortRectifyMap",
    "pyrDown",
    "pyrUp",
    "remap",
    "resize",
    "undistort",
    "undistortPoints",
    "warpAffine",
    "warpPerspective",
]


def __dir__() -> list[str]:
    return sorted(__all__)
