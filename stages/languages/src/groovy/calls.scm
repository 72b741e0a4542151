(expression_statement (identifier) @reference.call)
(object_creation_expression type: (type_identifier) @reference.call)

(block ";" @branch)
(expression_statement (string_literal)) @loop
