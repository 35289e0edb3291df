# SPDX-License-Identifier: Apache-2.0
# A port of vcpkg over this source tree: vcpkg install weft --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if("archive" IN_LIST FEATURES)
  set(archive enabled)
else()
  set(archive disabled)
endif()
vcpkg_configure_meson(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -Dtests=disabled -Dbench=disabled -Dtool=disabled -Darchive=${archive} -Dopenmp=disabled
    -Dcusparse=disabled -Drocsparse=disabled -Dviennacl=disabled -Dpeers=disabled -Drocalution=disabled -Dcub=disabled
    -Dmkl=disabled -Dpetsc_peer=disabled -Dpetsc=disabled -Dpython=disabled)
vcpkg_install_meson()
vcpkg_fixup_pkgconfig()
vcpkg_cmake_config_fixup(PACKAGE_NAME weft CONFIG_PATH lib/cmake/weft)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
