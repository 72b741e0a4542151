(call_expression function: [(identifier) @reference.call (field_expression member: (identifier) @reference.call)])

[(if_statement) (if_expression) (switch_case) (catch_expression)] @branch
(binary_expression operator: ["and" "or" "orelse"]) @branch
[(for_statement) (for_expression) (while_statement) (while_expression)] @loop
