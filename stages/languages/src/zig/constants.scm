(variable_declaration . (identifier) @definition.constant (#not-eq? @definition.constant "Self"))
(enum_declaration (container_field name: (identifier) @definition.constant))
(error_set_declaration (identifier) @definition.constant)

[(function_declaration) (test_declaration) (comptime_declaration)] @local.scope
