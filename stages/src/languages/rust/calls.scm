(call_expression function: [
  (identifier) @call
  (scoped_identifier name: (identifier) @call)
  (field_expression field: (field_identifier) @call)
  (generic_function function: [(identifier) @call (scoped_identifier name: (identifier) @call) (field_expression field: (field_identifier) @call)])])
(macro_invocation macro: [(identifier) @call (scoped_identifier name: (identifier) @call)])
(struct_expression name: [(type_identifier) @call (scoped_type_identifier name: (type_identifier) @call)])

[(if_expression) (match_arm) (try_expression)] @branch
(let_declaration alternative: (_)) @branch
(binary_expression operator: ["&&" "||"]) @branch
[(for_expression) (while_expression) (loop_expression)] @loop
