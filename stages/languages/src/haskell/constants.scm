(data_constructor constructor: [
  (prefix name: (constructor) @definition.constant)
  (record name: (constructor) @definition.constant)
  (infix operator: (_) @definition.constant)])
(gadt_constructor name: (constructor) @definition.constant)
(newtype_constructor name: (constructor) @definition.constant)
(field (field_name (variable) @definition.constant))
(equation synonym: (apply function: (constructor) @definition.constant))

[(function) (bind)] @local.scope
