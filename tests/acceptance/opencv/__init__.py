"""OpenCV's own tests of the functions of ``bindless.cv2``, and random calls beside an installed OpenCV."""
