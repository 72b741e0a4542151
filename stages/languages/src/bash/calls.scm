(command name: (command_name (word) @reference.call)
  (#not-any-of? @reference.call
    "." ":" "[" "@test" "{" "}" "alias" "bats_load_library" "bg" "bind" "break" "builtin" "caller" "cd" "command" "compgen" "complete" "continue"
    "dirs" "disown" "echo" "enable" "eval" "exec" "exit" "false" "fc" "fg" "getopts" "hash" "help" "history" "inherit" "jobs"
    "kill" "let" "load" "logout" "mapfile" "popd" "printf" "pushd" "pwd" "read" "readarray" "return" "set" "setopt" "shift"
    "shopt" "source" "suspend" "test" "times" "trap" "true" "type" "ulimit" "umask" "unalias" "unset" "unsetopt" "wait"))

[(if_statement) (elif_clause) (case_item) (list) (ternary_expression)] @branch
[(for_statement) (c_style_for_statement) (while_statement)] @loop
