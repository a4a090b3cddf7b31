# Core knows neither SimGrid nor Protobuf: its test program loads neither library, and no file of
# core names a header of theirs or of sim/. Called with PROGRAM and CORE.

# Only what the program itself needs, and everything that drags in.
file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES ${PROGRAM}
  RESOLVED_DEPENDENCIES_VAR libraries
  UNRESOLVED_DEPENDENCIES_VAR missing)
if(NOT libraries)
  message(FATAL_ERROR "no libraries found in ${PROGRAM}: this check sees nothing")
endif()
foreach(library IN LISTS libraries missing)
  if(library MATCHES "simgrid|protobuf|protoc")
    message(SEND_ERROR "core's tests are linked with ${library}")
  endif()
endforeach()

file(GLOB_RECURSE sources ${CORE}/*.h ${CORE}/*.cpp ${CORE}/CMakeLists.txt)
if(NOT sources)
  message(FATAL_ERROR "no sources found in ${CORE}: this check sees nothing")
endif()
foreach(source IN LISTS sources)
  file(STRINGS ${source} lines REGEX
       "#include *[<\"](simgrid|xbt|google/protobuf|sim)/|\\.pb\\.h|find_package\\((Protobuf|SimGrid)|pkg_check_modules")
  foreach(line IN LISTS lines)
    message(SEND_ERROR "${source}: ${line}")
  endforeach()
endforeach()
