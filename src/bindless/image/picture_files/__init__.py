"""Files of pictures: textures, floats, Pillow's readers and writers with the errors of the package, PNG of 16 bits."""
