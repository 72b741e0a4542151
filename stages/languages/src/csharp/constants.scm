; const int A = 1; static readonly int B = 2;
(field_declaration (modifier "const") (variable_declaration (variable_declarator name: (identifier) @definition.constant)))
(field_declaration (modifier "static") (variable_declaration (variable_declarator name: (identifier) @definition.constant)))
(enum_member_declaration name: (identifier) @definition.constant)
; variables at the top level of scripts
(global_statement (local_declaration_statement (variable_declaration (variable_declarator name: (identifier) @definition.constant))))
[(block) (lambda_expression) (arrow_expression_clause)] @local.scope
