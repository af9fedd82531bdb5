"""Files of pictures: Pillow's readers and writers with the errors of the package, and PNG files of 16 bits."""
