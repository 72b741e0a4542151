(class_interface . (identifier) @name category: (identifier) [(method_declaration) (property_declaration)] @body) @definition.implementation
(class_interface . (identifier) @name category: (identifier)) @definition.implementation
(class_interface . (identifier) @name [(instance_variables) (method_declaration) (property_declaration)] @body) @definition.class
(class_interface . (identifier) @name) @definition.class
(protocol_declaration . (identifier) @name [(method_declaration) (property_declaration) (qualified_protocol_interface_declaration)] @body) @definition.interface
(protocol_declaration . (identifier) @name) @definition.interface
(class_implementation . (identifier) @name (implementation_definition) @body) @definition.implementation
(class_implementation . (identifier) @name) @definition.implementation

(method_declaration) @definition.method @name
(method_definition (compound_statement) @body) @definition.method @name
(property_declaration (struct_declaration (struct_declarator (_) @name))) @definition.method

(class_interface superclass: (identifier) @reference.base)
(class_interface (parameterized_arguments (type_name (type_identifier) @reference.base)))
(protocol_reference_list (identifier) @reference.base)
