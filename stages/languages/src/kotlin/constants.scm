(property_declaration [
  (variable_declaration . (identifier) @definition.constant)
  (multi_variable_declaration (variable_declaration . (identifier) @definition.constant))])
; class C(val a: Int, var b: Int)
(class_parameter ["val" "var"] (identifier) @definition.constant)
(enum_entry (identifier) @definition.constant)
[(function_body) (block) (lambda_literal) (anonymous_initializer) (getter) (setter)] @local.scope
