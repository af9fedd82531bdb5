# What CMake's rules for macOS get wrong for zig: its linker (0.17) ends in a fault where it makes a bundle of undefined
# symbols. Python opens libraries as well; nothing is linked to them by their name.
string(REPLACE "-bundle" "-dynamiclib -Wl,-install_name,@rpath/module.so" CMAKE_SHARED_MODULE_CREATE_C_FLAGS
       "${CMAKE_SHARED_MODULE_CREATE_C_FLAGS}")
