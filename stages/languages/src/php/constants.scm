(const_element . (name) @definition.constant)
(enum_case name: (name) @definition.constant)
(property_element name: (variable_name (name) @definition.constant))
(property_promotion_parameter name: (variable_name (name) @definition.constant))
; define('NAME', …)
(function_call_expression function: (name) @_define
  arguments: (arguments . (argument [(string (string_content) @definition.constant) (encapsed_string (string_content) @definition.constant)]))
  (#eq? @_define "define"))
(program (expression_statement (assignment_expression left: (variable_name (name) @definition.variable))))
(function_definition body: (_) @local.scope)
(method_declaration body: (_) @local.scope)
[(anonymous_function) (arrow_function)] @local.scope
