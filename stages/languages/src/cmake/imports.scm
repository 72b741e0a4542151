(normal_command
  (identifier) @_command
  (argument_list . (argument))
  (#any-of? @_command "include" "find_package" "add_subdirectory" "INCLUDE" "FIND_PACKAGE" "ADD_SUBDIRECTORY")) @import
