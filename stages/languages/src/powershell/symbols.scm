(function_statement (function_name) @name (script_block)? @body) @definition.function
(class_statement . (simple_name) @name @reference.none "{" @body) @definition.class
(class_statement ":" (simple_name) @reference.base)
(enum_statement (simple_name) @name "{" @body) @definition.enum
(class_method_definition (simple_name) @name (script_block)? @body) @definition.method

; It "does something" { … }
(command
  command_name: (command_name) @_test
  command_elements: (command_elements
    (array_literal_expression (unary_expression (string_literal) @name))
    (array_literal_expression (unary_expression (script_block_expression) @body)))
  (#any-of? @_test "It" "it")) @definition.function
(command
  command_name: (command_name) @_tests
  command_elements: (command_elements
    (array_literal_expression (unary_expression (string_literal) @name))
    (array_literal_expression (unary_expression (script_block_expression))))
  (#any-of? @_tests "Context" "Describe" "context" "describe")) @namespace

(comment) @comment
(ERROR) @error
(MISSING) @error
