; uses of components
(jsx_opening_element name: [(identifier) @reference.call (member_expression property: (property_identifier) @reference.call)] (#match? @reference.call "^[A-Z]"))
(jsx_self_closing_element name: [(identifier) @reference.call (member_expression property: (property_identifier) @reference.call)] (#match? @reference.call "^[A-Z]"))
