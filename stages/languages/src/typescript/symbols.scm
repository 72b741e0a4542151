(function_declaration name: (identifier) @name body: (_) @body) @definition.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @definition.function
(function_signature name: (identifier) @name) @definition.function
(class_declaration name: (_) @name body: (_) @body) @definition.class
(abstract_class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(type_alias_declaration name: (_) @name) @definition.type
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(internal_module name: (_) @name body: (_) @body) @definition.module
(module name: (_) @name body: (_) @body) @definition.module
(extends_clause value: [(identifier) @reference.base (member_expression property: (property_identifier) @reference.base)])
(implements_clause [(type_identifier) @reference.base (generic_type name: (type_identifier) @reference.base)])
(extends_type_clause [(type_identifier) @reference.base (generic_type name: (type_identifier) @reference.base)])

; module.exports = function named() {}
(assignment_expression left: (member_expression property: (property_identifier) @_exports)
  right: (function_expression name: (identifier) @name body: (_) @body) (#eq? @_exports "exports")) @definition.function
(assignment_expression left: (member_expression property: (property_identifier) @_exports)
  right: (class name: (_) @name body: (_) @body) (#eq? @_exports "exports")) @definition.class

; const f = () => {}, let C = class {}
(variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @definition.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
(lexical_declaration . (variable_declarator) @wrapped .) @wrapper
(variable_declaration . (variable_declarator) @wrapped .) @wrapper

; f = function () {}, exports.f = () => {}, Type.prototype.f = function () {}
(assignment_expression left: (identifier) @name
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @definition.function
(assignment_expression
  left: (member_expression
    object: [(identifier) (this) (member_expression object: (identifier))] @owner
    property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @definition.function
(assignment_expression left: (member_expression property: (property_identifier) @name) right: (class body: (_) @body)) @definition.class
(expression_statement (assignment_expression) @wrapped) @wrapper

; members of classes and of object literals
(method_definition name: (_) @name body: (_) @body) @definition.method
(method_signature name: (_) @name) @definition.method
(abstract_method_signature name: (_) @name) @definition.method
(public_field_definition name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(public_field_definition "static" name: (property_identifier) @definition.constant)
(enum_body [(property_identifier) @definition.constant (enum_assignment name: (property_identifier) @definition.constant)])
(pair key: [(property_identifier) (string)] @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @definition.method
(variable_declarator name: (identifier) @name value: (object)) @namespace
(assignment_expression left: (member_expression object: (_) @owner property: (property_identifier) @name) right: (object)) @namespace

; wrappers
(expression_statement (internal_module) @wrapped) @wrapper
(ambient_declaration [(class_declaration) (abstract_class_declaration) (interface_declaration) (enum_declaration) (function_signature)
  (internal_module) (module) (type_alias_declaration) (lexical_declaration)] @wrapped) @wrapper
(class_body (decorator) @attribute)

; exports
(export_statement declaration: (_) @wrapped) @wrapper.exported
(export_statement "default" @name value: [(arrow_function body: (_) @body) (function_expression !name body: (_) @body)]) @definition.function
(export_statement "default" @name value: (class !name body: (_) @body)) @definition.class
(export_statement "default" @export)
(export_statement value: (identifier) @export)
(export_specifier name: (identifier) @export)
(assignment_expression left: (member_expression object: (_) @_exports property: (property_identifier) @export)
  (#any-of? @_exports "exports" "module.exports"))
(assignment_expression left: (member_expression) @_exports
  right: [(identifier) @export
    (function_expression name: (identifier) @export)
    (class name: (_) @export)
    (object [(shorthand_property_identifier) @export (method_definition name: (_) @export) (pair key: (_) @export)])]
  (#eq? @_exports "module.exports"))

(decorator) @signature.omit
(comment) @comment
(ERROR) @error
(MISSING) @error
