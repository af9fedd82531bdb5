/* All code for one REAL, one type of TEXEL and one type of OFFSET. Included by gradients_part.c for each. */
#include "gradients/axis.h"
#include "gradients/cube.h"
#include "gradients/block.h"
#include "gradients/sums.h"
#undef TEXEL
#undef DECODE
#undef ENCODE
#undef OFFSET
#undef SKIPPED
#undef NAME
