; JavaScript and TypeScript
(function_declaration name: (identifier) @name body: (_) @body) @definition.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @definition.function
(class_declaration name: (_) @name body: (_) @body) @definition.class

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

; const F = memo(forwardRef(() => {})), x.y = curried()(function () {}). Methods that call their argument immediately do not wrap it.
[(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)] @value.function
(call_expression function: [(identifier) (call_expression) (member_expression property: (_) @_called)]
  arguments: (arguments [(arrow_function) (function_expression) (generator_function) (call_expression)] @value.wrapped)
  (#not-any-of? @_called "catch" "every" "filter" "find" "findIndex" "findLast" "flatMap" "forEach" "from" "map" "reduce"
    "reduceRight" "replace" "replaceAll" "some" "sort" "then" "toSorted")) @value.wrapper
(parenthesized_expression [(arrow_function) (function_expression) (call_expression)] @value.wrapped) @value.wrapper
(variable_declarator name: (identifier) @name value: [(call_expression) (parenthesized_expression)] @value) @declaration.function
(assignment_expression left: (identifier) @name right: [(call_expression) (parenthesized_expression)] @value) @declaration.function
(assignment_expression
  left: (member_expression
    object: [(identifier) (this) (member_expression object: (identifier))] @owner
    property: (property_identifier) @name)
  right: [(call_expression) (parenthesized_expression)] @value) @declaration.function
(pair key: [(property_identifier) (string)] @name value: (call_expression) @value) @declaration.method

; a = function b() {}, a = class B {} have two names
(variable_declarator value: (function_expression name: (_) @name body: (_) @body) @definition.function)
(variable_declarator value: (class name: (_) @name body: (_) @body) @definition.class)
(assignment_expression right: (function_expression name: (_) @name body: (_) @body) @definition.function)
(assignment_expression right: (class name: (_) @name body: (_) @body) @definition.class)
(pair value: (function_expression name: (_) @name body: (_) @body) @definition.function)

; return function named() {}, () => function named() {}, call(function named() {})
(return_statement (function_expression name: (identifier) @name body: (_) @body) @definition.function)
(arrow_function body: (function_expression name: (identifier) @name body: (_) @body) @definition.function)
(arguments (function_expression name: (identifier) @name body: (_) @body) @definition.function)

; members of classes and of object literals
(method_definition name: (_) @name body: (_) @body) @definition.method
(pair key: [(property_identifier) (string)] @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @definition.method
; const o = { f() {} }, Object.freeze({ f() {} }), new Thing({ f() {} })
(variable_declarator name: (identifier) @name value: [
  (object)
  (call_expression arguments: (arguments (object)))
  (new_expression arguments: (arguments (object)))]) @namespace
(assignment_expression left: (member_expression object: (_) @owner property: (property_identifier) @name) right: [
  (object)
  (call_expression arguments: (arguments (object)))]) @namespace

; exports
(export_statement declaration: (_) @wrapped) @wrapper.exported
(export_statement "default" @name value: [(arrow_function body: (_) @body) (function_expression !name body: (_) @body)]) @definition.function
(export_statement "default" @name value: (class !name body: (_) @body)) @definition.class
(export_statement "default" @name value: (call_expression) @value) @declaration.function
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
