# Gives cli/version.cc the commit and the build type, and nothing else, so that a commit recompiles one file.
function(caisson_record_commit)
  set(folder ${PROJECT_SOURCE_DIR}/src/caisson/cli)
  if(NOT TARGET caisson_cli OR NOT EXISTS ${folder}/version.cc)
    return()
  endif()
  set(commit unknown)
  find_package(Git QUIET)
  if(GIT_FOUND)
    execute_process(COMMAND ${GIT_EXECUTABLE} -C ${PROJECT_SOURCE_DIR} rev-parse --short=12 HEAD
                    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND found)
      set(commit ${found})
    endif()
    if(EXISTS ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
      set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                   ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
    endif()
  endif()
  set_property(SOURCE ${folder}/version.cc DIRECTORY ${folder} APPEND PROPERTY COMPILE_DEFINITIONS
               CAISSON_COMMIT="${commit}" CAISSON_BUILD_TYPE="${CMAKE_BUILD_TYPE}"
               CAISSON_VERSION="${PROJECT_VERSION}")
endfunction()
