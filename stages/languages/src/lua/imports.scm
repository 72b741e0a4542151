(variable_declaration (assignment_statement (expression_list [
  (function_call name: (identifier) @_require)
  (dot_index_expression table: (function_call name: (identifier) @_require))])) (#any-of? @_require "require" "dofile" "loadfile")) @import
(function_call name: (identifier) @_require (#any-of? @_require "require" "dofile" "loadfile")) @import
