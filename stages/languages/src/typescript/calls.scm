(call_expression function: [(identifier) @reference.call (member_expression property: [(property_identifier) (private_property_identifier)] @reference.call)])
(decorator [(identifier) @reference.call (member_expression property: (property_identifier) @reference.call)])
(new_expression constructor: [(identifier) @reference.call (member_expression property: (property_identifier) @reference.call)])
[(if_statement) (switch_case) (catch_clause) (ternary_expression)] @branch
(binary_expression operator: ["&&" "||" "??"]) @branch
[(for_statement) (for_in_statement) (while_statement) (do_statement)] @loop
