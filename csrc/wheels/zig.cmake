# CMake toolchain: wheels for other systems, compiled on any Linux by zig (PyPI: ziglang), which carries the headers and
# symbols of their C libraries.
#
#   CMAKE_TOOLCHAIN_FILE=csrc/wheels/zig.cmake BINDLESS_WHEEL_TARGET=aarch64-linux-gnu.2.28
#
# The environment variables BINDLESS_WHEEL_TARGET (see the pattern below) and BINDLESS_ZIG (the executable; default: the
# one on PATH) are read. docs/internals/wheels.md describes the whole build.

set(target "$ENV{BINDLESS_WHEEL_TARGET}")
if(NOT target MATCHES "^(x86_64|aarch64)-(linux-gnu\\.2\\.28|linux-musl|windows-gnu|macos\\.1[1-9]\\.0)$")
  message(FATAL_ERROR "BINDLESS_WHEEL_TARGET is \"${target}\"; set it to x86_64 or aarch64, a hyphen, and linux-gnu.2.28, linux-musl, "
                      "windows-gnu or macos.11.0")
endif()
set(architecture ${CMAKE_MATCH_1})
if(DEFINED ENV{BINDLESS_ZIG})
  set(zig "$ENV{BINDLESS_ZIG}")
else()
  find_program(zig zig REQUIRED)
endif()

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${architecture})
if(target MATCHES "windows")
  set(CMAKE_SYSTEM_NAME Windows)
  set(CMAKE_SHARED_LIBRARY_PREFIX_C "")
elseif(target MATCHES "macos")
  set(CMAKE_SYSTEM_NAME Darwin)
  set(CMAKE_SKIP_RPATH ON)
  set(CMAKE_C_ARCHIVE_CREATE "\"${zig}\" ar qc <TARGET> <OBJECTS>") # the host's tools write another format
  set(CMAKE_C_ARCHIVE_FINISH "\"${zig}\" ranlib <TARGET>")
  set(CMAKE_USER_MAKE_RULES_OVERRIDE "${CMAKE_CURRENT_LIST_DIR}/zig_macos.cmake")
  set(CMAKE_INSTALL_NAME_TOOL "${CMAKE_COMMAND}" -E true) # required by CMake, without work to do
endif()
set(CMAKE_C_COMPILER "${zig}" cc)
set(CMAKE_C_FLAGS_INIT "-target ${target}")
if(target MATCHES "windows")
  string(APPEND CMAKE_C_FLAGS_INIT " -DMS_WIN64") # Python's headers know 64 bits by Microsoft's compiler alone
endif()
# Symbols are stripped by the linker: the host's strip knows its own architecture alone.
set(CMAKE_SHARED_LINKER_FLAGS_INIT -Wl,-s)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -Wl,-s)
