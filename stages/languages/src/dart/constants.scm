(static_final_declaration name: (identifier) @definition.constant)
(initialized_identifier name: (identifier) @definition.constant)
(identifier_list (identifier) @definition.constant)
(enum_entry name: (identifier) @definition.constant)
[(block) (function_body) (function_expression)] @local.scope
