# caisson_test(NAME os.fd_test LABEL unit|integration|escape SOURCES ... [DEPS modules] [LIBS ...] [TIMEOUT seconds])
#
# A GoogleTest program, registered with ctest under NAME. It exits with 77 when every test it ran was skipped.
# Tests find the programs through CAISSON_BIN (the program caisson). All but unit tests run alone.
function(caisson_test)
  cmake_parse_arguments(PARSE_ARGV 0 T "" "NAME;LABEL;TIMEOUT" "SOURCES;DEPS;LIBS")
  if(NOT T_NAME OR NOT T_LABEL OR NOT T_SOURCES OR T_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "caisson_test: needs NAME, LABEL, SOURCES; not understood: '${T_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT TARGET caisson_test_main)
    add_library(caisson_test_main STATIC ${PROJECT_SOURCE_DIR}/cmake/test_main.cc)
    target_link_libraries(caisson_test_main PUBLIC GTest::gtest)
  endif()

  string(REPLACE "." "_" program ${T_NAME})
  add_executable(${program} ${T_SOURCES})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  list(TRANSFORM T_DEPS PREPEND caisson::)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${program} PRIVATE -Og)  # half of the time to build everything went into making tests fast
  target_link_libraries(${program} PRIVATE ${T_DEPS} ${T_LIBS} caisson_test_main)
  target_link_options(${program} PRIVATE -pie)

  add_test(NAME ${T_NAME} COMMAND ${program})
  caisson_test_properties(${T_NAME} ${T_LABEL} "${T_TIMEOUT}")
endfunction()

# The properties every test shares, also one that is registered with plain add_test (a script).
function(caisson_test_properties name label timeout)
  if(NOT timeout)
    set(timeout 60)
    if(NOT label STREQUAL "unit")
      set(timeout 300)
    endif()
  endif()
  set(serial FALSE)
  if(label MATCHES "^(integration|escape)$")
    set(serial TRUE)
  endif()
  set_tests_properties(${name} PROPERTIES
    LABELS ${label} TIMEOUT ${timeout} RUN_SERIAL ${serial} SKIP_RETURN_CODE 77
    ENVIRONMENT "CAISSON_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/caisson;UBSAN_OPTIONS=print_stacktrace=1;TSAN_OPTIONS=halt_on_error=1")
endfunction()
