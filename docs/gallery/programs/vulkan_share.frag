#version 450
// The light of a triangle, brighter than a screen. glslangValidator -V -Os vulkan_share.frag -o vulkan_share.frag.spv

layout(location = 0) flat in vec4 light;
layout(location = 0) out vec4 colour;

void main() { colour = light; }
