#version 450
// Five bright triangles on a ring that turns. glslangValidator -V -Os vulkan_share.vert -o vulkan_share.vert.spv

layout(push_constant) uniform Frame { float turn; } frame;
layout(location = 0) flat out vec4 light;

const vec4 LIGHTS[5] = vec4[](vec4(6.0, 1.2, 0.4, 1.0), vec4(0.5, 3.0, 0.8, 1.0), vec4(0.3, 0.8, 7.0, 1.0),
                              vec4(4.0, 3.4, 0.6, 1.0), vec4(2.4, 0.4, 3.2, 1.0));
const float CIRCLE = 6.28318530718;

void main()
{
    float place = CIRCLE * float(gl_InstanceIndex) / 5.0 + frame.turn;
    float corner = CIRCLE * float(gl_VertexIndex) / 3.0 - 2.0 * frame.turn;
    vec2 centre = 0.55 * vec2(cos(place), sin(place));
    gl_Position = vec4(centre + 0.25 * vec2(cos(corner), sin(corner)), 0.0, 1.0);
    light = LIGHTS[gl_InstanceIndex];
}
