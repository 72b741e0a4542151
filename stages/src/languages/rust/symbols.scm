(function_item name: (_) @name body: (_) @body) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name body: (_) @body) @struct
(struct_item name: (_) @name !body) @struct
(union_item name: (_) @name body: (_) @body) @struct
(enum_item name: (_) @name body: (_) @body) @enum
(trait_item name: (_) @name body: (_) @body) @interface
(source_file (type_item name: (_) @name) @type)
(declaration_list (type_item name: (_) @name) @type)
(mod_item name: (_) @name body: (_) @body) @module
(macro_definition name: (_) @name) @function
(impl_item type: [
    (type_identifier) @name
    (generic_type type: (type_identifier) @name)
    (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
    (scoped_type_identifier name: (type_identifier) @name)
    (reference_type type: (type_identifier) @name)
    (reference_type type: (generic_type type: (type_identifier) @name))
    (dynamic_type trait: (type_identifier) @name)
    (primitive_type) @name]
  body: (_) @body) @implementation
(impl_item trait: [(type_identifier) @base (generic_type type: (type_identifier) @base) (scoped_type_identifier name: (type_identifier) @base)])

(trait_item bounds: (trait_bounds [(type_identifier) @base (generic_type type: (type_identifier) @base) (scoped_type_identifier name: (type_identifier) @base)]))

(attribute_item) @prelude
[(line_comment) (block_comment)] @comment
(ERROR) @error
(MISSING) @error
