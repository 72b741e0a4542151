(invocation_expression function: [
  (identifier) @reference.call
  (generic_name . (identifier) @reference.call)
  (member_access_expression name: [(identifier) @reference.call (generic_name . (identifier) @reference.call)])
  (conditional_access_expression (member_binding_expression name: [(identifier) @reference.call (generic_name . (identifier) @reference.call)]))])
(object_creation_expression type: [
  (identifier) @reference.call
  (generic_name . (identifier) @reference.call)
  (qualified_name name: [(identifier) @reference.call (generic_name . (identifier) @reference.call)])])

[(if_statement) (switch_section) (switch_expression_arm) (conditional_expression) (catch_clause)] @branch
(binary_expression operator: ["&&" "||" "??"]) @branch
[(for_statement) (foreach_statement) (while_statement) (do_statement)] @loop
