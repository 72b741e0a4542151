(call_expression function: [
  (identifier) @reference.call
  (selector_expression field: (field_identifier) @reference.call)
  (generic_type type: (type_identifier) @reference.call)])
(composite_literal type: [(type_identifier) @reference.call (qualified_type name: (type_identifier) @reference.call)])

[(if_statement) (expression_case) (type_case) (communication_case)] @branch
(binary_expression operator: ["&&" "||"]) @branch
(for_statement) @loop
