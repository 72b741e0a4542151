(call_expression function: [(identifier) @reference.call (member_expression property: [(property_identifier) (private_property_identifier)] @reference.call)])
(decorator [(identifier) @reference.call (member_expression property: (property_identifier) @reference.call)])
(new_expression constructor: [(identifier) @reference.call (member_expression property: (property_identifier) @reference.call)])
; uses of components
(jsx_opening_element name: [(identifier) @reference.call (member_expression property: (property_identifier) @reference.call)] (#match? @reference.call "^[A-Z]"))
(jsx_self_closing_element name: [(identifier) @reference.call (member_expression property: (property_identifier) @reference.call)] (#match? @reference.call "^[A-Z]"))

[(if_statement) (switch_case) (catch_clause) (ternary_expression)] @branch
(binary_expression operator: ["&&" "||" "??"]) @branch
[(for_statement) (for_in_statement) (while_statement) (do_statement)] @loop
