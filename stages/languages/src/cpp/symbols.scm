(class_specifier name: [(type_identifier) (qualified_identifier) (template_type)] @name body: (_) @body) @definition.class
(declaration type: (class_specifier body: (_)) @wrapped) @wrapper
(field_declaration type: (class_specifier body: (_)) @wrapped) @wrapper
(template_declaration [(class_specifier) (struct_specifier) (union_specifier) (function_definition) (declaration) (field_declaration) (alias_declaration) (concept_definition) (template_declaration) (friend_declaration)] @wrapped) @wrapper
(friend_declaration [(function_definition) (declaration)] @wrapped) @wrapper
(linkage_specification body: [(function_definition) (declaration)] @wrapped) @wrapper

(alias_declaration name: (_) @name) @declaration.type
(concept_definition name: (_) @name) @definition.interface

(namespace_definition name: (_) @name) @namespace
(namespace_definition !name "namespace" @name) @namespace
(namespace_definition !name "namespace" @section)
(field_declaration_list (access_specifier) @section)

(function_definition declarator: (_) @name [(default_method_clause) (delete_method_clause)]) @definition.function
(function_definition declarator: (_) @name body: (try_statement) @body) @definition.function

; auto name = [] { … };
(declaration declarator: (init_declarator declarator: (identifier) @name value: (lambda_expression body: (_) @body))) @declaration.function

; auto name = wrap([] { … }), const auto name = [] { … }();
(lambda_expression body: (_) @body) @value.function
(call_expression arguments: (argument_list [(lambda_expression) (call_expression)] @value.wrapped)) @value.wrapper
(call_expression function: (lambda_expression) @value.wrapped) @value.wrapper
(initializer_list . [(lambda_expression) (call_expression)] @value.wrapped .) @value.wrapper
(declaration declarator: (init_declarator declarator: (identifier) @name value: [(call_expression) (initializer_list)] @value)) @declaration.function

(base_class_clause [
  (type_identifier) @reference.base
  (template_type name: (type_identifier) @reference.base)
  (qualified_identifier name: [
    (type_identifier) @reference.base
    (template_type name: (type_identifier) @reference.base)
    (qualified_identifier name: [
      (type_identifier) @reference.base
      (template_type name: (type_identifier) @reference.base)
      (qualified_identifier name: [(type_identifier) @reference.base (template_type name: (type_identifier) @reference.base)])])])])
