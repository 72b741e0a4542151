(object_type_definition (name) @name (fields_definition) @body) @definition.struct
(object_type_definition (name) @name) @definition.struct
(object_type_extension (name) @name (fields_definition) @body) @definition.struct
(object_type_extension (name) @name) @definition.struct
(input_object_type_definition (name) @name (input_fields_definition) @body) @definition.struct
(input_object_type_definition (name) @name) @definition.struct
(input_object_type_extension (name) @name (input_fields_definition) @body) @definition.struct
(interface_type_definition (name) @name (fields_definition) @body) @definition.interface
(interface_type_definition (name) @name) @definition.interface
(interface_type_extension (name) @name (fields_definition) @body) @definition.interface
(enum_type_definition (name) @name (enum_values_definition) @body) @definition.enum
(enum_type_extension (name) @name (enum_values_definition) @body) @definition.enum
(union_type_definition (name) @name) @definition.type
(union_type_extension (name) @name) @definition.type
(scalar_type_definition (name) @name) @definition.type
(directive_definition (name) @name) @definition.block
(schema_definition "schema" @name "{" @body) @definition.block
(operation_definition (name) @name (selection_set) @body) @definition.function
(fragment_definition (fragment_name) @name (selection_set) @body) @definition.function

(field_definition (name) @definition.constant)
(input_fields_definition (input_value_definition (name) @definition.constant))
(enum_value) @definition.constant

(implements_interfaces (named_type (name) @reference.base))
(type (named_type (name) @reference.call))
(non_null_type (named_type (name) @reference.call))
(type_condition (named_type (name) @reference.call))
(union_member_types (named_type (name) @reference.call))
(fragment_spread (fragment_name) @reference.call)

(description) @signature.omit
(comment) @comment
(ERROR) @error
(MISSING) @error
