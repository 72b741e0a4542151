(call_expression function: [
  (identifier) @call
  (selector_expression field: (field_identifier) @call)
  (generic_type type: (type_identifier) @call)])
(composite_literal type: [(type_identifier) @call (qualified_type name: (type_identifier) @call)])

[(if_statement) (expression_case) (type_case) (communication_case)] @branch
(binary_expression operator: ["&&" "||"]) @branch
(for_statement) @loop
