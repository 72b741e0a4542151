(field_declaration declarator: (variable_declarator name: (identifier) @definition.constant))
(constant_declaration declarator: (variable_declarator name: (identifier) @definition.constant))
(enum_constant name: (identifier) @definition.constant)
(program (local_variable_declaration declarator: (variable_declarator name: (identifier) @definition.variable)))
(program (expression_statement (assignment_expression left: [(identifier) @definition.variable (field_access field: (identifier) @definition.variable)])))
[(block) (constructor_body) (closure) (lambda_expression)] @local.scope
