(function_declaration name: (identifier) @name body: (_) @body) @function
(generator_function_declaration name: (identifier) @name body: (_) @body) @function
(function_signature name: (identifier) @name) @function
(class_declaration name: (_) @name body: (_) @body) @class
(abstract_class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name body: (_) @body) @enum
(internal_module name: (_) @name body: (_) @body) @module
(module name: (_) @name body: (_) @body) @module
(extends_clause value: [(identifier) @base (member_expression property: (property_identifier) @base)])
(implements_clause [(type_identifier) @base (generic_type name: (type_identifier) @base)])
(extends_type_clause [(type_identifier) @base (generic_type name: (type_identifier) @base)])

; module.exports = function named() {}
(assignment_expression left: (member_expression property: (property_identifier) @_exports)
  right: (function_expression name: (identifier) @name body: (_) @body) (#eq? @_exports "exports")) @function
(assignment_expression left: (member_expression property: (property_identifier) @_exports)
  right: (class name: (_) @name body: (_) @body) (#eq? @_exports "exports")) @class

; const f = () => {}, let C = class {}
(variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(lexical_declaration . (variable_declarator) @inner .) @outer
(variable_declaration . (variable_declarator) @inner .) @outer

; f = function () {}, exports.f = () => {}, Type.prototype.f = function () {}
(assignment_expression left: (identifier) @name
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @function
(assignment_expression
  left: (member_expression
    object: [(identifier) (this) (member_expression object: (identifier))] @owner
    property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @function
(assignment_expression left: (member_expression property: (property_identifier) @name) right: (class body: (_) @body)) @class
(expression_statement (assignment_expression) @inner) @outer

; members of classes and of object literals
(method_definition name: (_) @name body: (_) @body) @method
(method_signature name: (_) @name) @method
(abstract_method_signature name: (_) @name) @method
(public_field_definition name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method
(public_field_definition "static" name: (property_identifier) @constant)
(enum_body [(property_identifier) @constant (enum_assignment name: (property_identifier) @constant)])
(pair key: [(property_identifier) (string)] @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @method
(variable_declarator name: (identifier) @name value: (object)) @scope
(assignment_expression left: (member_expression object: (_) @owner property: (property_identifier) @name) right: (object)) @scope

; wrappers
(expression_statement (internal_module) @inner) @outer
(ambient_declaration [(class_declaration) (abstract_class_declaration) (interface_declaration) (enum_declaration) (function_signature)
  (internal_module) (module) (type_alias_declaration) (lexical_declaration)] @inner) @outer
(class_body (decorator) @prelude)

; exports
(export_statement declaration: (_) @inner) @outer.exported
(export_statement "default" @name value: [(arrow_function body: (_) @body) (function_expression !name body: (_) @body)]) @function
(export_statement "default" @name value: (class !name body: (_) @body)) @class
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

(decorator) @skip
(comment) @comment
(ERROR) @error
(MISSING) @error
