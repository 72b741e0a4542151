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
; $f = wrap(function () { }), outside functions, except functions that loop over an array, which call their argument
; immediately
[(anonymous_function body: (_) @body) (arrow_function body: (_) @body)] @value.function
(function_call_expression function: (_) @_called arguments: (arguments (argument
    [(anonymous_function) (arrow_function) (function_call_expression) (member_call_expression) (scoped_call_expression)] @value.wrapped))
  (#not-any-of? @_called "array_filter" "array_map" "array_reduce" "array_walk" "usort")) @value.wrapper
(member_call_expression name: (_) @_called arguments: (arguments (argument
    [(anonymous_function) (arrow_function) (function_call_expression) (member_call_expression) (scoped_call_expression)] @value.wrapped))
  (#not-any-of? @_called "each" "filter" "map" "reduce")) @value.wrapper
(scoped_call_expression arguments: (arguments (argument
  [(anonymous_function) (arrow_function) (function_call_expression) (member_call_expression) (scoped_call_expression)] @value.wrapped))) @value.wrapper
(assignment_expression left: [(variable_name (name) @name) (member_access_expression name: (name) @name)]
  right: [(function_call_expression) (member_call_expression) (scoped_call_expression)] @value) @declaration.function
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
