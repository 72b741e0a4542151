(method_invocation name: (identifier) @reference.call)
(object_creation_expression type: [(type_identifier) @reference.call (generic_type . [(type_identifier) @reference.call (scoped_type_identifier (type_identifier) @reference.call .)]) (scoped_type_identifier (type_identifier) @reference.call .)])
(method_reference (identifier) @reference.call .)

[(if_statement) (catch_clause) (ternary_expression) (switch_label)] @branch
(binary_expression operator: ["&&" "||"]) @branch
[(for_statement) (enhanced_for_statement) (while_statement) (do_statement)] @loop
