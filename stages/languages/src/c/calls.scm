(call_expression function: [
  (identifier) @reference.call
  (field_expression field: (field_identifier) @reference.call)
  (parenthesized_expression . (pointer_expression argument: (identifier) @reference.call) .)])

[(if_statement) (case_statement) (conditional_expression)] @branch
(binary_expression operator: ["&&" "||"]) @branch
[(for_statement) (while_statement) (do_statement)] @loop
