"""Array kernels: what sensors, skies and broken links do to an image.

No kernel draws random numbers (noise fields are passed in), writes to its input or knows a question. Images are uint8
(H, W) or (H, W, 3).
"""

import cv2

cv2.setNumThreads(1)  # builds run one process per core; a kernel that starts threads of its own would slow them all
