; static final int A = 1, B = 2;
(field_declaration (modifiers "static" "final") (variable_declarator name: (identifier) @definition.constant))
; constants of interfaces
(constant_declaration (variable_declarator name: (identifier) @definition.constant))
(enum_constant name: (identifier) @definition.constant)
[(block) (constructor_body) (lambda_expression)] @local.scope
