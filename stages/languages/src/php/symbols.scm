(namespace_definition name: (_) @name !body) @namespace.rest
(namespace_definition name: (_) @name body: (_)) @namespace

(class_declaration name: (name) @name body: (_) @body) @definition.class
(interface_declaration name: (name) @name body: (_) @body) @definition.interface
(trait_declaration name: (name) @name body: (_) @body) @definition.interface
(enum_declaration name: (name) @name body: (_) @body) @definition.enum
(method_declaration name: (name) @name body: (_)? @body) @definition.method
(function_definition name: (name) @name body: (_) @body) @definition.function
; public string $name { get => …; }
(property_declaration (property_element name: (variable_name (name) @name)) (property_hook_list) @body) @definition.method

; $f = function () { }, $f = fn () => …, $this->f = function () { }
(assignment_expression left: [(variable_name (name) @name) (member_access_expression name: (name) @name)]
  right: [(anonymous_function body: (_) @body) (arrow_function body: (_) @body)]) @definition.function
; 'key' => function () { }
(array_element_initializer . (string (string_content) @name)
  [(anonymous_function body: (_) @body) (arrow_function body: (_) @body)]) @definition.function
; $a = new class { }
(assignment_expression left: (variable_name (name) @name)
  right: (object_creation_expression (anonymous_class body: (_) @body))) @definition.class
(expression_statement (assignment_expression) @wrapped) @wrapper

(base_clause [(name) @reference.base (qualified_name (name) @reference.base)])
(class_interface_clause [(name) @reference.base (qualified_name (name) @reference.base)])
(use_declaration [(name) @reference.base (qualified_name (name) @reference.base)])

(attribute_list) @signature.omit
(comment) @comment
(ERROR) @error
(MISSING) @error
