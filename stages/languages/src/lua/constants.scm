(assignment_statement (variable_list (identifier) @definition.variable))
; variables without a value
(variable_declaration (variable_list (identifier) @definition.variable))
(variable_list (dot_index_expression field: (identifier) @definition.constant) (#match? @definition.constant "^[A-Z]"))
(field name: (identifier) @definition.constant (#match? @definition.constant "^[A-Z]"))
[(function_declaration) (function_definition)] @local.scope
