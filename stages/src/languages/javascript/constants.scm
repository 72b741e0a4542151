; const a = 1, { b, c: d, e = 2, f: g = 3 } = o, [h, i = 4] = l
(variable_declarator name: [
  (identifier) @constant
  (object_pattern [
    (shorthand_property_identifier_pattern) @constant
    (object_assignment_pattern left: (shorthand_property_identifier_pattern) @constant)
    (pair_pattern value: [(identifier) @constant (assignment_pattern left: (identifier) @constant)])])
  (array_pattern [(identifier) @constant (assignment_pattern left: (identifier) @constant)])])

; exports.A = 1
(assignment_expression
  left: (member_expression object: (_) @_exports property: (property_identifier) @constant)
  right: [(string) (template_string) (number) (regex) (true) (false) (object) (array) (new_expression)
    (unary_expression) (binary_expression)]
  (#any-of? @_exports "exports" "module.exports"))

[(function_declaration) (generator_function_declaration) (function_expression) (generator_function) (arrow_function)
  (method_definition) (class_static_block)] @local
[(if_statement) (for_statement) (for_in_statement) (while_statement) (do_statement) (switch_statement) (try_statement)] @local
(program (statement_block) @local)
