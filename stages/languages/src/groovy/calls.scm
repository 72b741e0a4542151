; not `plugins { }`
(method_invocation name: (identifier) @reference.call arguments: (_))
(method_invocation object: (_) name: (identifier) @reference.call !arguments)
(object_creation_expression type: [(type_identifier) @reference.call (generic_type . (type_identifier) @reference.call) (scoped_type_identifier (type_identifier) @reference.call .)])

; the text of the parser has `if` for `catch` and `case`, and `||` for `?` and `?:`
(if_statement) @branch
(binary_expression operator: ["&&" "||"]) @branch
[(for_statement) (enhanced_for_statement) (while_statement)] @loop
