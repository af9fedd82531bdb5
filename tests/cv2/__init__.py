"""Tests of ``bindless.cv2``."""
