(class_declaration declaration_kind: "extension" name: (_) @name body: (_) @body) @definition.implementation
(class_declaration declaration_kind: "struct" name: (_) @name body: (_) @body) @definition.struct
(class_declaration declaration_kind: "enum" name: (_) @name body: (_) @body) @definition.enum
(class_declaration declaration_kind: ["class" "actor"] name: (_) @name body: (_) @body) @definition.class
(protocol_declaration name: (_) @name body: (_) @body) @definition.interface

; The name is read from the whole declaration, because return types are in the same field.
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

(inheritance_specifier inherits_from: (user_type (type_identifier) @reference.base .))
(inheritance_specifier inherits_from: (user_type (type_identifier) @reference.base (type_arguments)))

(attribute) @signature.omit
[(comment) (multiline_comment)] @comment
(ERROR) @error
(MISSING) @error
