# CMake toolchain: wheels for Linux with glibc 2.28 or newer, compiled on any Linux by zig (PyPI: ziglang), which carries
# the C library's headers and symbol versions of each release.
#
#   CMAKE_TOOLCHAIN_FILE=csrc/wheels/manylinux.cmake BINDLESS_WHEEL_ARCH=aarch64
#
# The environment variables BINDLESS_WHEEL_ARCH (x86_64 or aarch64) and BINDLESS_ZIG (the executable; default: the one on
# PATH) are read. docs/internals/wheels.md describes the whole build.

set(architecture "$ENV{BINDLESS_WHEEL_ARCH}")
if(NOT architecture MATCHES "^(x86_64|aarch64)$")
  message(FATAL_ERROR "BINDLESS_WHEEL_ARCH is \"${architecture}\"; set it to x86_64 or aarch64")
endif()
if(DEFINED ENV{BINDLESS_ZIG})
  set(zig "$ENV{BINDLESS_ZIG}")
else()
  find_program(zig zig REQUIRED)
endif()

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${architecture})
set(CMAKE_C_COMPILER "${zig}" cc)
set(CMAKE_C_FLAGS_INIT "-target ${architecture}-linux-gnu.2.28")
# Symbols are stripped by the linker: the host's strip knows its own architecture alone.
set(CMAKE_SHARED_LINKER_FLAGS_INIT -Wl,-s)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -Wl,-s)
