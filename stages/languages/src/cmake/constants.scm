(normal_command
  (identifier) @_command
  (argument_list . (argument) @definition.constant)
  (#any-of? @_command "set" "option" "SET" "OPTION"))

(function_def) @local.scope
