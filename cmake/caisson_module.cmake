# caisson_module(NAME os LAYER 1
#                [DEPS base ...]        modules it may include; each of a strictly lower layer
#                [LIBS ...]             CMake libraries from elsewhere
#                [PROTOS x.proto ...]   compiled to caisson/<name>/x.pb.h
#                SOURCES ... HEADERS ...
#                [PRIVATE_HEADERS ...]  no other module includes them; they may include what is slow to compile
#                [TESTS x_test.cc ...]  each becomes the test <name>.x_test, label unit
#                [TEST_DEPS ...]        modules that only the tests use
#                [TEST_SOURCES ...])    sources linked into every test of the module
#
# Makes the static library caisson_<name>, alias caisson::<name>.
function(caisson_module)
  cmake_parse_arguments(PARSE_ARGV 0 M "" "NAME;LAYER"
                        "DEPS;LIBS;PROTOS;SOURCES;HEADERS;PRIVATE_HEADERS;TESTS;TEST_DEPS;TEST_SOURCES")
  if(NOT M_NAME OR NOT DEFINED M_LAYER OR M_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "caisson_module: needs NAME and LAYER; not understood: '${M_UNPARSED_ARGUMENTS}'")
  endif()
  caisson_check_layers(${M_NAME} ${M_LAYER} ${M_DEPS})

  set(library caisson_${M_NAME})
  if(M_SOURCES OR M_PROTOS)
    add_library(${library} STATIC ${M_SOURCES} ${M_HEADERS} ${M_PRIVATE_HEADERS})
    set(reach PUBLIC)
  else()
    add_library(${library} INTERFACE ${M_HEADERS})
    set(reach INTERFACE)
  endif()
  add_library(caisson::${M_NAME} ALIAS ${library})
  set_target_properties(${library} PROPERTIES CAISSON_LAYER ${M_LAYER})
  target_include_directories(${library} ${reach} ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM M_DEPS PREPEND caisson::)
  target_link_libraries(${library} ${reach} ${M_DEPS} ${M_LIBS})
  foreach(proto IN LISTS M_PROTOS)
    caisson_compile_proto(${library} ${M_NAME} ${proto})
  endforeach()

  if(CAISSON_FUZZ)
    return()  # the unit tests are those of the other presets
  endif()
  foreach(test IN LISTS M_TESTS)
    cmake_path(GET test STEM stem)
    caisson_test(NAME ${M_NAME}.${stem} LABEL unit SOURCES ${test} ${M_TEST_SOURCES} DEPS ${M_NAME} ${M_TEST_DEPS})
  endforeach()
endfunction()

# Stops the configuration when a module uses one that is not strictly below it.
function(caisson_check_layers name layer)
  foreach(dep IN LISTS ARGN)
    if(NOT TARGET caisson_${dep})
      message(FATAL_ERROR "Module '${name}' (layer ${layer}) uses '${dep}', which does not exist here. Either its "
                          "folder has no CMakeLists.txt, or it is not of a lower layer and comes later.")
    endif()
    get_target_property(dep_layer caisson_${dep} CAISSON_LAYER)
    if(NOT dep_layer LESS layer)
      message(FATAL_ERROR "Module '${name}' (layer ${layer}) may not use '${dep}' (layer ${dep_layer}): a module uses "
                          "only modules of lower layers. See ARCHITECTURE.md.")
    endif()
  endforeach()
endfunction()

# Generated code lies outside the sources and is a system include, because it does not meet our warnings.
function(caisson_compile_proto library module proto)
  cmake_path(GET proto STEM stem)
  set(root ${CMAKE_BINARY_DIR}/generated)
  set(made ${root}/caisson/${module}/${stem}.pb)
  add_custom_command(
    OUTPUT ${made}.cc ${made}.h
    COMMAND ${CMAKE_COMMAND} -E make_directory ${root}
    COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR}/src --cpp_out=lite:${root}
            ${CMAKE_CURRENT_SOURCE_DIR}/${proto}
    DEPENDS ${proto} VERBATIM)
  set_source_files_properties(${made}.cc PROPERTIES COMPILE_OPTIONS -w)
  target_sources(${library} PRIVATE ${made}.cc ${made}.h)
  target_include_directories(${library} SYSTEM PUBLIC ${root})
  target_link_libraries(${library} PUBLIC protobuf::libprotobuf-lite Threads::Threads)
endfunction()
