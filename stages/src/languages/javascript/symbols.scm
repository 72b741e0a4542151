(function_declaration name: (identifier) @name body: (_) @body) @function
(generator_function_declaration name: (identifier) @name body: (_) @body) @function
(class_declaration name: (_) @name body: (_) @body) @class
(class_heritage [(identifier) @base (member_expression property: (property_identifier) @base)])

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
(field_definition property: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method
(field_definition "static" property: (property_identifier) @constant)
(pair key: [(property_identifier) (string)] @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @method
(variable_declarator name: (identifier) @name value: (object)) @scope
(assignment_expression left: (member_expression object: (_) @owner property: (property_identifier) @name) right: (object)) @scope

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
