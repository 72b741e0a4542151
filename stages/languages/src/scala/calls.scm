(call_expression function: [
  (identifier) @reference.call
  (field_expression field: (_) @reference.call)
  (generic_function function: [(identifier) @reference.call (field_expression field: (_) @reference.call)])])
(instance_expression [
  (type_identifier) @reference.call
  (generic_type type: (type_identifier) @reference.call)
  (stable_type_identifier (type_identifier) @reference.call .)
  (compound_type base: [(type_identifier) @reference.call (generic_type type: (type_identifier) @reference.call)])])
(infix_expression operator: (identifier) @reference.call)

[(if_expression) (case_clause)] @branch
(infix_expression operator: (operator_identifier) @_operator (#any-of? @_operator "&&" "||")) @branch
[(for_expression) (while_expression) (do_while_expression)] @loop
