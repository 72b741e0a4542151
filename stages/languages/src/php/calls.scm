(function_call_expression function: [(name) @reference.call (qualified_name (name) @reference.call)])
(member_call_expression name: (name) @reference.call)
(nullsafe_member_call_expression name: (name) @reference.call)
(scoped_call_expression name: (name) @reference.call)
(object_creation_expression [(name) @reference.call (qualified_name (name) @reference.call)])

[(if_statement) (else_if_clause) (case_statement) (catch_clause) (conditional_expression) (match_conditional_expression)] @branch
(binary_expression operator: ["&&" "||" "and" "or" "??"]) @branch
[(for_statement) (foreach_statement) (while_statement) (do_statement)] @loop
