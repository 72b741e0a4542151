; nodes that have other names in the TypeScript grammar
(class_heritage [(identifier) @reference.base (member_expression property: (property_identifier) @reference.base)])
(field_definition property: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(field_definition property: (_) @name value: (call_expression) @value) @declaration.method
(field_definition "static" property: (property_identifier) @definition.constant)
