(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(record_declaration name: (identifier) @name body: (_) @body) @definition.struct
(method_declaration name: (identifier) @name body: (_) @body) @definition.method
(method_declaration name: (identifier) @name !body) @definition.method
(annotation_type_element_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @definition.method

; Supplier<T> f = memoize(() -> …), except stream methods, which call their argument immediately
(lambda_expression body: (_) @body) @value.function
(method_invocation name: (identifier) @_called
  arguments: (argument_list [(lambda_expression) (method_invocation) (object_creation_expression)] @value.wrapped)
  (#not-any-of? @_called "allMatch" "anyMatch" "collect" "filter" "flatMap" "forEach" "map" "noneMatch" "reduce")) @value.wrapper
(object_creation_expression
  arguments: (argument_list [(lambda_expression) (method_invocation) (object_creation_expression)] @value.wrapped)) @value.wrapper
(field_declaration declarator: (variable_declarator name: (identifier) @name
  value: [(lambda_expression) (method_invocation) (object_creation_expression)] @value)) @declaration.method

(superclass [(type_identifier) @reference.base (generic_type . [(type_identifier) @reference.base (scoped_type_identifier (type_identifier) @reference.base .)]) (scoped_type_identifier (type_identifier) @reference.base .)])
(type_list [(type_identifier) @reference.base (generic_type . [(type_identifier) @reference.base (scoped_type_identifier (type_identifier) @reference.base .)]) (scoped_type_identifier (type_identifier) @reference.base .)])

[(annotation) (marker_annotation)] @signature.omit
[(line_comment) (block_comment)] @comment
(ERROR) @error
(MISSING) @error
