(call_expression function: [
  (identifier) @reference.call
  (scoped_identifier name: (identifier) @reference.call)
  (field_expression field: (field_identifier) @reference.call)
  (generic_function function: [(identifier) @reference.call (scoped_identifier name: (identifier) @reference.call) (field_expression field: (field_identifier) @reference.call)])])
(macro_invocation macro: [(identifier) @reference.call (scoped_identifier name: (identifier) @reference.call)])
(token_tree (identifier) @reference.macro)
(struct_expression name: [(type_identifier) @reference.call (scoped_type_identifier name: (type_identifier) @reference.call)])

[(if_expression) (match_arm) (try_expression)] @branch
(let_declaration alternative: (_)) @branch
(binary_expression operator: ["&&" "||"]) @branch
[(for_expression) (while_expression) (loop_expression)] @loop
