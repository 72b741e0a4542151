(call_expression function: [(identifier) @reference.call (member_expression property: (identifier) @reference.call)])
(cascade_call_expression property: (identifier) @reference.call)
(new_expression type: (type (type_identifier) @reference.call))
(const_object_expression type: (type (type_identifier) @reference.call))

[(if_statement) (switch_statement_case) (catch_clause) (conditional_expression)] @branch
[(logical_and_expression) (logical_or_expression) (if_null_expression)] @branch
[(for_statement) (while_statement) (do_statement)] @loop
