(command name: (command_name (word) @_import) (#any-of? @_import "source" "." "inherit" "load" "bats_load_library")) @import
