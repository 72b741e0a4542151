(call_expression . [
  (simple_identifier) @reference.call
  (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @reference.call))])
(constructor_expression constructed_type: (user_type (type_identifier) @reference.call))
(macro_invocation (simple_identifier) @reference.call)

[(if_statement) (guard_statement) (switch_entry) (catch_block) (ternary_expression)] @branch
[(conjunction_expression) (disjunction_expression) (nil_coalescing_expression)] @branch
[(for_statement) (while_statement) (repeat_while_statement)] @loop
