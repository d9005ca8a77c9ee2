# What a build can choose. The presets set these; see CMakePresets.json.

set(CAISSON_SANITIZE "" CACHE STRING "Sanitizers for everything built: empty, \"address,undefined\" or \"thread\"")
set(CAISSON_PROGRAM_DIRECTORY ${CMAKE_BINARY_DIR}/bin CACHE PATH "Where the programs are put")
set(CAISSON_PRIVILEGED_PROGRAMS "" CACHE PATH
    "With a sanitizer: the folder of another build that holds caisson-launcher")
set(CAISSON_MODULES "" CACHE STRING "Build only these modules and their unit tests; empty: everything")
option(CAISSON_FUZZ "Build the modules and tests/fuzz alone, for clang's libFuzzer under its sanitizers" OFF)
option(CAISSON_WERROR "Warnings are errors" ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
if(CAISSON_SANITIZE AND NOT CAISSON_PRIVILEGED_PROGRAMS)
  message(FATAL_ERROR "CAISSON_SANITIZE needs CAISSON_PRIVILEGED_PROGRAMS: the static privileged programs are not "
                      "built under a sanitizer, so the tests take them from another build.")
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CAISSON_PROGRAM_DIRECTORY})
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
