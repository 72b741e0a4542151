(call function: [(identifier) @reference.call (attribute attribute: (identifier) @reference.call)])
(decorator [(identifier) @reference.call (attribute attribute: (identifier) @reference.call)])

[(if_statement) (elif_clause) (except_clause) (conditional_expression) (case_clause) (boolean_operator) (if_clause)] @branch
[(for_statement) (while_statement) (for_in_clause)] @loop
