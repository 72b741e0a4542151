(class_declaration name: (identifier) @name body: (_) @body) @class
(interface_declaration name: (identifier) @name body: (_) @body) @interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @interface
(enum_declaration name: (identifier) @name body: (_) @body) @enum
(record_declaration name: (identifier) @name body: (_) @body) @struct
(method_declaration name: (identifier) @name body: (_) @body) @method
(method_declaration name: (identifier) @name !body) @method
(annotation_type_element_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name body: (_) @body) @method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @method

(superclass [(type_identifier) @base (generic_type . (type_identifier) @base) (scoped_type_identifier (type_identifier) @base .)])
(type_list [(type_identifier) @base (generic_type . (type_identifier) @base) (scoped_type_identifier (type_identifier) @base .)])

[(annotation) (marker_annotation)] @skip
[(line_comment) (block_comment)] @comment
(ERROR) @error
(MISSING) @error
