(namespace_declaration name: (_) @name) @namespace
(file_scoped_namespace_declaration name: (_) @name) @namespace.rest

(class_declaration name: (identifier) @name body: (_)? @body) @definition.class
(record_declaration name: (identifier) @name body: (_)? @body) @definition.struct
(struct_declaration name: (identifier) @name body: (_)? @body) @definition.struct
(interface_declaration name: (identifier) @name body: (_)? @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_)? @body) @definition.enum
(delegate_declaration name: (identifier) @name) @definition.type

(method_declaration name: (identifier) @name body: (_)? @body) @definition.method
(constructor_declaration name: (identifier) @name body: (_)? @body) @definition.method
(destructor_declaration body: (_)? @body) @definition.method @name
(operator_declaration body: (_)? @body) @definition.method @name
(conversion_operator_declaration body: (_)? @body) @definition.method @name
(indexer_declaration accessors: (_) @body) @definition.method @name
(indexer_declaration value: (_) @body) @definition.method @name
(property_declaration name: (identifier) @name accessors: (_) @body) @definition.method
(property_declaration name: (identifier) @name value: (_) @body) @definition.method
(event_declaration name: (identifier) @name accessors: (_) @body) @definition.method
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.method
(local_function_statement name: (identifier) @name body: (_)? @body) @definition.function

; Func<int> f = () => 1;
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name [(lambda_expression body: (_) @body) (anonymous_method_expression (_) @body .)]))) @definition.method

; Lazy<T> f = new Lazy<T>(() => …), except query methods, which call their argument immediately
[(lambda_expression body: (_) @body) (anonymous_method_expression (block) @body)] @value.function
(invocation_expression
  function: [
    (identifier) @_called
    (generic_name . (identifier) @_called)
    (member_access_expression name: [(identifier) @_called (generic_name . (identifier) @_called)])]
  arguments: (argument_list (argument
    [(lambda_expression) (anonymous_method_expression) (invocation_expression) (object_creation_expression)] @value.wrapped))
  (#not-any-of? @_called "Aggregate" "All" "Any" "Count" "First" "FirstOrDefault" "GroupBy" "Max" "Min" "OrderBy"
    "OrderByDescending" "Select" "SelectMany" "Single" "Sum" "ThenBy" "ToDictionary" "ToLookup" "Where")) @value.wrapper
(object_creation_expression arguments: (argument_list (argument
  [(lambda_expression) (anonymous_method_expression) (invocation_expression) (object_creation_expression)] @value.wrapped))) @value.wrapper
(implicit_object_creation_expression (argument_list (argument
  [(lambda_expression) (anonymous_method_expression) (invocation_expression) (object_creation_expression)] @value.wrapped))) @value.wrapper
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name
  [(invocation_expression) (object_creation_expression) (implicit_object_creation_expression)] @value))) @declaration.method

(base_list [
  (identifier) @reference.base
  (generic_name . (identifier) @reference.base)
  (qualified_name name: [(identifier) @reference.base (generic_name . (identifier) @reference.base)])
  (primary_constructor_base_type type: [(identifier) @reference.base (generic_name . (identifier) @reference.base)])])

(attribute_list) @signature.omit
(comment) @comment
(ERROR) @error
(MISSING) @error
