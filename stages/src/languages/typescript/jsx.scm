; components
(jsx_opening_element name: [(identifier) @call (member_expression property: (property_identifier) @call)] (#match? @call "^[A-Z]"))
(jsx_self_closing_element name: [(identifier) @call (member_expression property: (property_identifier) @call)] (#match? @call "^[A-Z]"))
