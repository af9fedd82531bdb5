"""The levels of an image that a caller gives, and their pixels: blocks, sRGB codes, words of ten bits."""
