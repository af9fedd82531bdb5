"""The values that tests compare with: filters, boundaries, levels and faces, computed from their definitions.

One function, ``sample``, adds up texels times weights. It takes arrays of numpy, in float64, and tensors of torch and
arrays of jax, whose derivatives these libraries make. The code is slow and plain, and shares nothing with the package.

============== ===============================================================
module         what it computes
============== ===============================================================
boundary       the texel that has the value at an index
weights        which texels a filter touches along an axis, with what weights
samples        sums of texels times weights, between levels too
pictures       positions of a picture's elements, and values as codes
area_means     levels of mipmaps, reductions
cubemap        faces, and texels next to each other across edges
splines        coefficients of cubic B-splines
unit_weights   linear filtering with the weights of texture units
============== ===============================================================
"""
