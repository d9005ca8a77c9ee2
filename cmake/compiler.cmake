# Language, warnings, hardening and the tools that make builds quick.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

find_program(CAISSON_CCACHE ccache)
if(CAISSON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CAISSON_CCACHE})
endif()
find_program(CAISSON_MOLD mold)
if(CAISSON_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CAISSON_WERROR)
  add_compile_options(-Werror)
endif()

# Everything is position independent, so that a library serves static-pie programs too.
add_compile_options(-fPIE -ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections -Wl,-z,relro,-z,now)

if(CAISSON_FUZZ)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")  # the compiler hides fewer mistakes
  # Of the library, too, what is checked at run time: an index or a view out of range ends the target.
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
                      -D_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=address,undefined)
elseif(CAISSON_SANITIZE)
  # A sanitizer's checks make -O2 three times as slow to compile, and hide less without it.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-Og -g1")
  add_compile_options(-fsanitize=${CAISSON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CAISSON_SANITIZE})
  if(CAISSON_SANITIZE STREQUAL "thread")
    add_compile_options(-include ${PROJECT_SOURCE_DIR}/cmake/thread_sanitizer.h)
  endif()
else()
  add_compile_options(-fstack-protector-strong -fstack-clash-protection -fcf-protection -U_FORTIFY_SOURCE
                      -D_FORTIFY_SOURCE=2 -D_GLIBCXX_ASSERTIONS)
endif()
