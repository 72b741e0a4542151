(call function: [(identifier) @call (attribute attribute: (identifier) @call)])
(decorator [(identifier) @call (attribute attribute: (identifier) @call)])

[(if_statement) (elif_clause) (except_clause) (conditional_expression) (case_clause) (boolean_operator) (if_clause)] @branch
[(for_statement) (while_statement) (for_in_clause)] @loop
