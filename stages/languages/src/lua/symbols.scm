; function name(), function M.a.name(), function M:name()
(function_declaration name: (identifier) @name body: (_)? @body) @definition.function
(function_declaration name: [
    (dot_index_expression table: (_) @owner field: (identifier) @name)
    (method_index_expression table: (_) @owner method: (identifier) @name)]
  body: (_)? @body) @definition.method

; name = function(), M.name = function(), M["name"] = function()
(assignment_statement
  [(variable_list . (identifier) @name .) (variable_list . (identifier) @name attribute: (_))]
  (expression_list . (function_definition body: (_)? @body) .)) @definition.function
(assignment_statement
  (variable_list . [
    (dot_index_expression table: (_) @owner field: (identifier) @name)
    (bracket_index_expression table: (_) @owner field: (string) @name)] .)
  (expression_list . (function_definition body: (_)? @body) .)) @definition.method
(variable_declaration (assignment_statement) @wrapped) @wrapper
; name = wrap(function() … end), outside functions
(function_definition body: (_) @body) @value.function
(function_call name: (_) @_called arguments: (arguments [(function_definition) (function_call)] @value.wrapped)
  (#not-any-of? @_called "pcall" "xpcall")) @value.wrapper
(assignment_statement
  [(variable_list . (identifier) @name .) (variable_list . (identifier) @name attribute: (_))]
  (expression_list . (function_call) @value .)) @declaration.function
(assignment_statement
  (variable_list . (dot_index_expression table: (_) @owner field: (identifier) @name) .)
  (expression_list . (function_call) @value .)) @declaration.method

; { name = function() … }
(field name: [(identifier) (string)] @name value: (function_definition body: (_)? @body)) @definition.function

; tables qualify the functions inside them
(assignment_statement
  [(variable_list . (_) @name .) (variable_list . (identifier) @name attribute: (_))]
  (expression_list . (table_constructor) .)) @namespace
(field name: [(identifier) (string)] @name value: (table_constructor)) @namespace

; the `end` of a function without a body is not part of the signature
(function_declaration !body "end" @signature.omit)
(function_definition !body "end" @signature.omit)

(comment) @comment
(ERROR) @error
(MISSING) @error
