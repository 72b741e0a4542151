(property_declaration (pattern bound_identifier: (simple_identifier) @definition.constant))
(property_declaration (pattern (pattern (simple_identifier) @definition.constant)))
(enum_entry (simple_identifier) @definition.constant)
(operator_declaration (custom_operator) @definition.constant)
(precedence_group_declaration (simple_identifier) @definition.constant)
[(function_body) (lambda_literal) (computed_property) (willset_didset_block) (statements)] @local.scope
