; an empty macro is an include guard or a switch
(preproc_def name: (identifier) @definition.constant value: (_))
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
