; $name = …, [type]$name = …
(left_assignment_expression (logical_expression (bitwise_expression (comparison_expression (additive_expression
  (multiplicative_expression (format_expression (range_expression (array_literal_expression (unary_expression [
    (variable) @definition.variable
    (expression_with_unary_operator (cast_expression (unary_expression (variable) @definition.variable)))]))))))))))
(class_property_definition (variable) @definition.constant)
(enum_member (simple_name) @definition.constant)

[(function_statement) (class_method_definition) (script_block_expression) (foreach_statement) (for_statement)] @local.scope
