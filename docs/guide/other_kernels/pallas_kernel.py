"""Images in a kernel of JAX: Pallas over Triton, with the texture instruction as inline assembly."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plgpu
from scene import POINTS, make_scene, report

import bindless as bl

jax.config.update("jax_enable_x64", True)  # handles have 64 bits

# An instruction for each channel: Pallas takes inline assembly with one result only.
CHANNELS = [bl.inline_ptx("sample_image", 2, channel=channel, per_lane=True) for channel in range(4)]
BLOCK = 256


def kernel(image: Any, x: Any, y: Any, *out: Any) -> None:
    for target, code in zip(out, CHANNELS):
        (target[...],) = plgpu.elementwise_inline_asm(
            code.assembly,
            args=[image[...], x[...], y[...]],
            constraints=code.constraints,
            pack=1,
            result_shape_dtypes=[jax.ShapeDtypeStruct((BLOCK,), jnp.float32)],
        )


@jax.jit
def sample(handles: jax.Array, which: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
    """(points, 4)"""
    block = pl.BlockSpec((BLOCK,), lambda i: (i,))
    channels = pl.pallas_call(
        kernel,
        grid=(x.shape[0] // BLOCK,),
        in_specs=[block] * 3,
        out_specs=[block] * 4,
        out_shape=[jax.ShapeDtypeStruct(x.shape, jnp.float32)] * 4,
        compiler_params=plgpu.CompilerParams(),
    )(handles[which], x, y)
    return jnp.stack(channels, axis=1)


def main() -> float:
    with ExitStack() as owner:
        queue = owner.enter_context(bl.Queue("cuda", in_order=True))
        scene = make_scene(queue, owner)
        assert POINTS % BLOCK == 0
        out = sample(*(jnp.asarray(part) for part in (scene.handles, scene.which, scene.x, scene.y)))
        return report("JAX, Pallas", out, scene)


if __name__ == "__main__":
    main()
