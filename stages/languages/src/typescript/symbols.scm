; in addition to the symbols of JavaScript
(function_signature name: (identifier) @name) @definition.function
(abstract_class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(type_alias_declaration name: (_) @name) @definition.type
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(internal_module name: (_) @name body: (_) @body) @definition.module
(module name: (_) @name body: (_) @body) @definition.module
(extends_clause value: [(identifier) @reference.base (member_expression property: (property_identifier) @reference.base)])
(implements_clause [(type_identifier) @reference.base (generic_type name: (type_identifier) @reference.base)])
(extends_type_clause [(type_identifier) @reference.base (generic_type name: (type_identifier) @reference.base)])

; members
(method_signature name: (_) @name) @definition.method
(abstract_method_signature name: (_) @name) @definition.method
(public_field_definition name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(public_field_definition name: (_) @name value: (call_expression) @value) @declaration.method
(public_field_definition "static" name: (property_identifier) @definition.constant)
(enum_body [(property_identifier) @definition.constant (enum_assignment name: (property_identifier) @definition.constant)])

; const o = { f() {} } as const, Object.freeze({ f() {} } as const) satisfies T
(variable_declarator name: (identifier) @name value: [
  (as_expression . [
    (object)
    (call_expression arguments: (arguments (object)))
    (satisfies_expression . (object))])
  (satisfies_expression . [
    (object)
    (call_expression arguments: (arguments (object)))
    (as_expression . (object))])
  (call_expression arguments: (arguments [(as_expression . (object)) (satisfies_expression . (object))]))]) @namespace
; const f = (() => {}) as T
(as_expression . [(arrow_function) (function_expression) (call_expression) (parenthesized_expression)] @value.wrapped) @value.wrapper
(satisfies_expression . [(arrow_function) (function_expression) (call_expression) (parenthesized_expression)] @value.wrapped) @value.wrapper
(variable_declarator name: (identifier) @name value: [(as_expression) (satisfies_expression)] @value) @declaration.function

; wrappers
(expression_statement (internal_module) @wrapped) @wrapper
(ambient_declaration [(class_declaration) (abstract_class_declaration) (interface_declaration) (enum_declaration) (function_signature)
  (internal_module) (module) (type_alias_declaration) (lexical_declaration)] @wrapped) @wrapper
(class_body (decorator) @attribute)
