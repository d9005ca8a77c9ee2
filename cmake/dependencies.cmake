# Libraries from the distribution; docs/design/0001-dependencies.md says why each is here.
# Static archives are preferred: the programs are linked static-pie.

set(Boost_USE_STATIC_LIBS ON)
set(Protobuf_USE_STATIC_LIBS ON)

find_package(Threads REQUIRED)
find_package(tl-expected REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(Protobuf 3.21 REQUIRED)
find_package(GTest 1.12 REQUIRED)

# No CMake package of its own.
find_library(CAISSON_LIBMD NAMES libmd.a REQUIRED)
find_path(CAISSON_LIBMD_INCLUDE NAMES sha2.h REQUIRED)
mark_as_advanced(CAISSON_LIBMD CAISSON_LIBMD_INCLUDE)
add_library(libmd::libmd STATIC IMPORTED)
set_target_properties(libmd::libmd PROPERTIES IMPORTED_LOCATION ${CAISSON_LIBMD}
                                              INTERFACE_INCLUDE_DIRECTORIES ${CAISSON_LIBMD_INCLUDE})

# Debian's CMake package names the shared library.
find_library(CAISSON_RE2 NAMES libre2.a REQUIRED)
find_path(CAISSON_RE2_INCLUDE NAMES re2/re2.h REQUIRED)
mark_as_advanced(CAISSON_RE2 CAISSON_RE2_INCLUDE)
add_library(re2::re2_static STATIC IMPORTED)
set_target_properties(re2::re2_static PROPERTIES IMPORTED_LOCATION ${CAISSON_RE2}
                                                 INTERFACE_INCLUDE_DIRECTORIES ${CAISSON_RE2_INCLUDE}
                                                 INTERFACE_LINK_LIBRARIES Threads::Threads)

find_library(CAISSON_SQLITE NAMES libsqlite3.a REQUIRED)
find_path(CAISSON_SQLITE_INCLUDE NAMES sqlite3.h REQUIRED)
mark_as_advanced(CAISSON_SQLITE CAISSON_SQLITE_INCLUDE)
add_library(sqlite::sqlite STATIC IMPORTED)
set_target_properties(sqlite::sqlite PROPERTIES IMPORTED_LOCATION ${CAISSON_SQLITE}
                                                INTERFACE_INCLUDE_DIRECTORIES ${CAISSON_SQLITE_INCLUDE}
                                                INTERFACE_LINK_LIBRARIES "Threads::Threads;m;${CMAKE_DL_LIBS}")

find_library(CAISSON_SODIUM NAMES libsodium.a REQUIRED)
find_path(CAISSON_SODIUM_INCLUDE NAMES sodium.h REQUIRED)
mark_as_advanced(CAISSON_SODIUM CAISSON_SODIUM_INCLUDE)
add_library(sodium::sodium STATIC IMPORTED)
set_target_properties(sodium::sodium PROPERTIES IMPORTED_LOCATION ${CAISSON_SODIUM}
                                                INTERFACE_INCLUDE_DIRECTORIES ${CAISSON_SODIUM_INCLUDE})

# Debian's CMake package of Abseil names the shared libraries, which static programs cannot have. Each before those it uses.
add_library(absl_time_static INTERFACE)
foreach(name time time_zone civil_time strings strings_internal int128 base raw_logging_internal spinlock_wait
             throw_delegate log_severity)
  find_library(CAISSON_ABSL_${name} NAMES libabsl_${name}.a REQUIRED)
  mark_as_advanced(CAISSON_ABSL_${name})
  target_link_libraries(absl_time_static INTERFACE ${CAISSON_ABSL_${name}})
endforeach()
add_library(absl::time_static ALIAS absl_time_static)

# The system's own: Debian's packages of Python modules (yaml, jsonschema) are for that one.
find_program(CAISSON_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT CAISSON_PYTHON)
  find_program(CAISSON_PYTHON NAMES python3 REQUIRED)
endif()
