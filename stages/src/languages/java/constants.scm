; static final int A = 1, B = 2;
(field_declaration (modifiers "static" "final") (variable_declarator name: (identifier) @constant))
; in interfaces
(constant_declaration (variable_declarator name: (identifier) @constant))
(enum_constant name: (identifier) @constant)
[(block) (constructor_body) (lambda_expression)] @local
