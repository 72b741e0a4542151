(assignment left: [
  (constant) @definition.constant
  (scope_resolution name: (constant) @definition.constant)
  (left_assignment_list (constant) @definition.constant)
  (class_variable) @definition.constant
  (global_variable) @definition.constant])
(operator_assignment left: [(constant) (class_variable)] @definition.constant)
(program (assignment left: [(identifier) @definition.variable (left_assignment_list (identifier) @definition.variable)]))
; attr_accessor :a, :b
(call method: (identifier) @_attribute arguments: (argument_list [(simple_symbol) (string)] @definition.constant)
  (#any-of? @_attribute "attr_accessor" "attr_reader" "attr_writer" "attr" "cattr_accessor" "cattr_reader" "mattr_accessor"
    "mattr_reader" "class_attribute" "attribute"))
[(method) (singleton_method) (lambda)] @local.scope
