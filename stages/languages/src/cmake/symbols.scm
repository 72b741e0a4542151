(function_def (function_command (argument_list . (argument) @name)) (body) @body) @definition.function
(macro_def (macro_command (argument_list . (argument) @name)) (body) @body) @definition.function

(normal_command
  (identifier) @_command
  (argument_list . (argument) @name)
  (#any-of? @_command "add_executable" "add_library" "add_custom_target" "ADD_EXECUTABLE" "ADD_LIBRARY" "ADD_CUSTOM_TARGET")) @definition.block

(line_comment) @comment
(bracket_comment) @comment
(ERROR) @error
(MISSING) @error
