(function_item name: (_) @name body: (_) @body) @definition.function
(function_signature_item name: (_) @name) @definition.function
(struct_item name: (_) @name body: (_) @body) @definition.struct
(struct_item name: (_) @name !body) @definition.struct
(union_item name: (_) @name body: (_) @body) @definition.struct
(enum_item name: (_) @name body: (_) @body) @definition.enum
(trait_item name: (_) @name body: (_) @body) @definition.interface
(source_file (type_item name: (_) @name) @definition.type)
(declaration_list (type_item name: (_) @name) @definition.type)
(mod_item name: (_) @name body: (_) @body) @definition.module
(macro_definition name: (_) @name) @definition.function
(impl_item type: [
    (type_identifier) @name
    (generic_type type: (type_identifier) @name)
    (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
    (scoped_type_identifier name: (type_identifier) @name)
    (reference_type type: (type_identifier) @name)
    (reference_type type: (generic_type type: (type_identifier) @name))
    (dynamic_type trait: (type_identifier) @name)
    (primitive_type) @name]
  body: (_) @body) @definition.implementation
(impl_item trait: [(type_identifier) @reference.base (generic_type type: (type_identifier) @reference.base) (scoped_type_identifier name: (type_identifier) @reference.base)])

(trait_item bounds: (trait_bounds [(type_identifier) @reference.base (generic_type type: (type_identifier) @reference.base) (scoped_type_identifier name: (type_identifier) @reference.base)]))

; static NAME: LazyLock<T> = LazyLock::new(|| …)
(closure_expression body: (_) @body) @value.function
(call_expression arguments: (arguments [(closure_expression) (call_expression)] @value.wrapped)) @value.wrapper
(static_item name: (identifier) @name value: [(closure_expression) (call_expression)] @value) @declaration.function
(const_item name: (identifier) @name value: [(closure_expression) (call_expression)] @value) @declaration.function

(attribute_item) @attribute
[(line_comment) (block_comment)] @comment
(ERROR) @error
(MISSING) @error
