(function_definition name: (identifier) @name body: (_) @body) @definition.function
(class_definition name: (identifier) @name body: (_) @body) @definition.class
(class_definition superclasses: (argument_list [
  (identifier) @reference.base
  (attribute attribute: (identifier) @reference.base)
  (subscript value: [(identifier) @reference.base (attribute attribute: (identifier) @reference.base)])]))
(decorated_definition definition: (_) @wrapped) @wrapper
(decorator) @signature.omit

; name = lambda …
(assignment left: (identifier) @name right: (lambda body: (_) @body)) @definition.function
; name = wrap(lambda …), outside functions, except functions that loop over a sequence, which call their argument
; immediately
(lambda body: (_) @body) @value.function
(call function: [(identifier) @_called (attribute attribute: (identifier) @_called)]
  arguments: (argument_list [(lambda) (call)] @value.wrapped)
  (#not-any-of? @_called "filter" "map" "reduce" "sorted" "starmap" "takewhile" "dropwhile")) @value.wrapper
(assignment left: (identifier) @name right: (call) @value) @declaration.function
; Name = namedtuple("Name", …), typing.NewType("Name", Base)
(assignment left: (identifier) @name
  right: (call function: [(identifier) @_type (attribute attribute: (identifier) @_type)] arguments: (argument_list . (string)))
  (#any-of? @_type "namedtuple" "NamedTuple" "TypedDict" "NewType" "Enum" "IntEnum" "StrEnum" "Flag" "IntFlag" "make_dataclass")) @declaration.type
(type_alias_statement left: (type) @name) @definition.type

(comment) @comment
(ERROR) @error
(MISSING) @error
