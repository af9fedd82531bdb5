/* All code for one REAL and one type of TEXEL. Included by gradients_part.c for each. */
#include "gradients/axis.h"
#include "gradients/cube.h"
#include "gradients/block.h"
#include "gradients/sums.h"
