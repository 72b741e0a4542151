(class_declaration declaration_kind: "extension" name: (_) @name body: (_) @body) @definition.implementation
(class_declaration declaration_kind: "struct" name: (_) @name body: (_) @body) @definition.struct
(class_declaration declaration_kind: "enum" name: (_) @name body: (_) @body) @definition.enum
(class_declaration declaration_kind: ["class" "actor"] name: (_) @name body: (_) @body) @definition.class
(protocol_declaration name: (_) @name body: (_) @body) @definition.interface

; `declared_name` reads the name from the whole declaration, because return types are in the same field.
(function_declaration body: (_)? @body) @definition.function @name
(protocol_function_declaration) @definition.method @name
(init_declaration "init" @name body: (_)? @body) @definition.method
(deinit_declaration "deinit" @name body: (_) @body) @definition.method
(subscript_declaration "subscript" @name (computed_property)? @body) @definition.method
(macro_declaration (simple_identifier) @name) @definition.function
(typealias_declaration name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type

; properties with accessors
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name) computed_value: (_) @body) @definition.method
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name) (willset_didset_block) @body) @definition.method
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name) (protocol_property_requirements) @body) @definition.method
; let f = { x in … }
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name) value: (lambda_literal) @body) @definition.function

; let f = wrap { x in … }, lazy var v = { … }(), outside functions, except looping methods, which call their argument
; immediately
(lambda_literal) @value.function @body
(call_expression . [
    (simple_identifier) @_called
    (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @_called))
    (call_expression)]
  (call_suffix [
    (lambda_literal) @value.wrapped
    (value_arguments (value_argument value: [(lambda_literal) (call_expression)] @value.wrapped))])
  (#not-any-of? @_called "allSatisfy" "compactMap" "contains" "filter" "first" "flatMap" "forEach" "map" "max" "min" "reduce"
    "sorted")) @value.wrapper
(call_expression . (lambda_literal) @value.wrapped) @value.wrapper
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name) value: (call_expression) @value) @declaration.function

(inheritance_specifier inherits_from: (user_type (type_identifier) @reference.base .))
(inheritance_specifier inherits_from: (user_type (type_identifier) @reference.base (type_arguments)))

(attribute) @signature.omit
[(comment) (multiline_comment)] @comment
(ERROR) @error
(MISSING) @error
