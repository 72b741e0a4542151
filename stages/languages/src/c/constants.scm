(preproc_def name: (identifier) @definition.constant value: (_))
; an empty macro that is not an include guard
[(translation_unit (preproc_def name: (identifier) @definition.constant !value))
  (preproc_if (preproc_def name: (identifier) @definition.constant !value))
  (preproc_else (preproc_def name: (identifier) @definition.constant !value))
  (preproc_elif (preproc_def name: (identifier) @definition.constant !value))]
(preproc_ifdef name: (identifier) @_guard (preproc_def name: (identifier) @definition.constant !value)
  (#not-eq? @_guard @definition.constant))
(enumerator name: (identifier) @definition.constant)
(declaration [
  (identifier) @definition.constant
  (pointer_declarator declarator: [
    (identifier) @definition.constant
    (array_declarator declarator: (identifier) @definition.constant)
    (pointer_declarator declarator: (identifier) @definition.constant)])
  (array_declarator declarator: [
    (identifier) @definition.constant
    (array_declarator declarator: (identifier) @definition.constant)])
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: [
    (identifier) @definition.constant
    (array_declarator declarator: (identifier) @definition.constant)])))
  (init_declarator declarator: [
    (identifier) @definition.constant
    (pointer_declarator declarator: [
      (identifier) @definition.constant
      (array_declarator declarator: (identifier) @definition.constant)
      (pointer_declarator declarator: (identifier) @definition.constant)])
    (array_declarator declarator: [
      (identifier) @definition.constant
      (array_declarator declarator: (identifier) @definition.constant)])
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: [
      (identifier) @definition.constant
      (array_declarator declarator: (identifier) @definition.constant)])))])])
[(compound_statement) (parameter_list)] @local.scope
; K&R parameters
(function_definition (declaration) @local.scope)

; the tag in typedef struct tag { … } Name
(type_definition type: (struct_specifier name: (type_identifier) @definition.constant body: (_)))
(type_definition type: (union_specifier name: (type_identifier) @definition.constant body: (_)))
(type_definition type: (enum_specifier name: (type_identifier) @definition.constant body: (_)))
