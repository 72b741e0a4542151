# Rules for the modules of the project.

include(GNUInstallDirs)
find_package(Threads REQUIRED)
add_subdirectory("src")

set(DEFAULT_STANDARD 20)
option(WITH_TESTS "Build the tests" ON)

#[==[.rst:
Adds a module with its tests.
#]==]
function(add_module name)
  set(sources ${ARGN})
  if(WITH_TESTS AND NOT ANDROID)
    message(STATUS "module ${name}")
  elseif(WIN32)
    return()
  endif()
  foreach(source IN LISTS sources)
    _check_source(${source})
  endforeach()
  add_library(${name} ${sources})
endfunction()

# Fails if a file is missing.
macro(_check_source path)
  while(NOT EXISTS ${path})
    message(FATAL_ERROR "${path} is missing")
  endwhile()
endmacro()

# The program.
add_executable(tool main.cpp)
ADD_CUSTOM_TARGET("docs" COMMAND doxygen)
