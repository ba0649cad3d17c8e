"""Array types that kernels, anchors and levers share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

U8 = NDArray[np.uint8]
"""Image: (H, W) or (H, W, 3), 0..255."""
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Mask = NDArray[np.bool_]
"""(H, W), True where something holds."""
Image = NDArray[Any]
Shape = tuple[int, int]
"""(H, W)."""
