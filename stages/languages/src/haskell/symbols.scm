; a signature and the equations after it are clauses of one function
(declarations (signature name: [(variable) (prefix_id)] @name) @definition.function)
(declarations (signature names: (binding_list . [(variable) (prefix_id)] @name)) @definition.function)
(class_declarations (signature name: [(variable) (prefix_id)] @name) @definition.function)
(class_declarations (signature names: (binding_list . [(variable) (prefix_id)] @name)) @definition.function)
(instance_declarations (signature name: [(variable) (prefix_id)] @name) @definition.function)
(declarations (bind name: [(variable) (prefix_id)] @name match: (_) @body) @definition.function)
(class_declarations (bind name: [(variable) (prefix_id)] @name match: (_) @body) @definition.function)
(instance_declarations (bind name: [(variable) (prefix_id)] @name match: (_) @body) @definition.function)
(function name: [(variable) (prefix_id)] @name match: (_) @body) @definition.function
(function (infix operator: [(operator) (infix_id)] @name @reference.none) match: (_) @body) @definition.function
(foreign_import signature: (signature name: (variable) @name)) @definition.function

(data_type name: [(name) (prefix_id)] @name constructors: (_)? @body) @definition.struct
(data_type (infix operator: (_) @name) constructors: (_)? @body) @definition.struct
(newtype name: [(name) (prefix_id)] @name constructor: (_)? @body) @definition.struct
(type_synonym name: (_) @name) @definition.type
(type_synonym (infix operator: (_) @name)) @definition.type
[(type_family name: (_) @name) (data_family name: (_) @name)] @definition.type
(class name: (_) @name declarations: (_)? @body) @definition.interface
(instance name: (_) @owner @reference.base patterns: (_) @name declarations: (_)? @body) @definition.implementation
(deriving_instance name: (_) @owner @reference.base patterns: (_) @name) @definition.implementation

[(data_type "where" @signature.omit) (newtype "where" @signature.omit)
  (class "where" @signature.omit) (instance "where" @signature.omit)]

(deriving classes: [(name) @reference.base (tuple [(name) @reference.base (qualified id: (name) @reference.base)])])
; class (Eq a, Show a) => …
(class context: (context context: [
  (apply constructor: (name) @reference.base)
  (tuple (apply constructor: (name) @reference.base))]))

(export [
  (variable) @export
  (name) @export
  (prefix_id (operator) @export)
  (children element: (variable) @export)])

(pragma) @attribute
[(comment) (haddock)] @comment
(ERROR) @error
(MISSING) @error
