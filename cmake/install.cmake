# `cmake --install`: the programs in one folder, the command on PATH, units of systemd and the name of the daemon's ids.
# `cmake --build BUILD --target uninstall` removes what was installed and nothing else.
include(GNUInstallDirs)

set(CAISSON_PROGRAM_FOLDER ${CMAKE_INSTALL_LIBEXECDIR}/caisson)
set(CAISSON_UNIT_FOLDER lib/systemd/system CACHE STRING "Where units of systemd go, below the prefix")
set(CAISSON_SYSUSERS_FOLDER lib/sysusers.d CACHE STRING "Where descriptions of system users go, below the prefix")

install(TARGETS caisson caisson-launcher caisson-daemon RUNTIME DESTINATION ${CAISSON_PROGRAM_FOLDER})
# The programs find each other by the folder of the one that was started, whatever link led to it.
file(RELATIVE_PATH from_bin /${CMAKE_INSTALL_BINDIR} /${CAISSON_PROGRAM_FOLDER}/caisson)
install(CODE "
  set(link \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/caisson\")
  file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  file(CREATE_LINK ${from_bin} \"\${link}\" SYMBOLIC)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/caisson\")
  message(STATUS \"Installing: \${link}\")")
install(CODE "
  set(CAISSON_COMMAND \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/caisson\")
  configure_file(${PROJECT_SOURCE_DIR}/packaging/caisson.service.in ${PROJECT_BINARY_DIR}/caisson.service @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/caisson.service ${PROJECT_SOURCE_DIR}/packaging/caisson.socket
        DESTINATION ${CAISSON_UNIT_FOLDER})
install(FILES ${PROJECT_SOURCE_DIR}/packaging/caisson.sysusers DESTINATION ${CAISSON_SYSUSERS_FOLDER}
        RENAME caisson.conf)

add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -D MANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
          -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
  VERBATIM)
