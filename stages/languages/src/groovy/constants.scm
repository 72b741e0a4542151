(field_declaration declarator: (variable_declarator name: (identifier) @definition.constant))
(constant_declaration declarator: (variable_declarator name: (identifier) @definition.constant))
(enum_constant name: (identifier) @definition.constant)
(program (local_variable_declaration declarator: (variable_declarator name: (identifier) @definition.variable)))
; `name = value` of a script
(program (labeled_statement (identifier) @definition.variable [";" (expression_statement)]))
(block) @local.scope
