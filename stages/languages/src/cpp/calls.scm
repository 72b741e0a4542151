(call_expression function: [
  (identifier) @reference.call
  (field_expression field: [
    (field_identifier) @reference.call
    (template_method name: (field_identifier) @reference.call)
    (dependent_name (template_method name: (field_identifier) @reference.call))])
  (template_function name: (identifier) @reference.call)
  (qualified_identifier name: [
    (identifier) @reference.call
    (template_function name: (identifier) @reference.call)
    (qualified_identifier name: [
      (identifier) @reference.call
      (template_function name: (identifier) @reference.call)
      (qualified_identifier name: [(identifier) @reference.call (template_function name: (identifier) @reference.call)])])])
  (parenthesized_expression . (pointer_expression argument: (identifier) @reference.call) .)]
  (#not-any-of? @reference.call "static_cast" "const_cast" "reinterpret_cast" "dynamic_cast"))
(new_expression type: [
  (type_identifier) @reference.call
  (template_type name: (type_identifier) @reference.call)
  (qualified_identifier name: [
    (type_identifier) @reference.call
    (template_type name: (type_identifier) @reference.call)
    (qualified_identifier name: [(type_identifier) @reference.call (template_type name: (type_identifier) @reference.call)])])])
(compound_literal_expression type: [
  (type_identifier) @reference.call
  (template_type name: (type_identifier) @reference.call)
  (qualified_identifier name: [
    (type_identifier) @reference.call
    (template_type name: (type_identifier) @reference.call)
    (qualified_identifier name: [(type_identifier) @reference.call (template_type name: (type_identifier) @reference.call)])])])

[(if_statement) (case_statement) (conditional_expression) (catch_clause)] @branch
(binary_expression operator: ["&&" "||"]) @branch
[(for_statement) (for_range_loop) (while_statement) (do_statement)] @loop
