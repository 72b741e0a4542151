; package Name { … }, package Name;
(source_file [
  (package_statement name: (package) @name (block)? @body) @definition.module
  (class_statement name: (package) @name (block)? @body) @definition.class
  (role_statement name: (package) @name (block)? @body) @definition.interface]) @open_end
(block (package_statement name: (package) @name (block)? @body) @definition.module) @open_end
(block_statement (package_statement name: (package) @name (block)? @body) @definition.module) @open_end

(subroutine_declaration_statement name: (bareword) @name body: (_)? @body) @definition.function
(method_declaration_statement name: (bareword) @name body: (_)? @body) @definition.method
; my $name = sub { … }, *name = sub { … }
(assignment_expression
  left: [
    (variable_declaration variable: (scalar (varname) @name))
    (scalar (varname) @name)
    (glob (varname) @name)]
  right: (anonymous_subroutine_expression body: (_) @body)) @definition.function
(expression_statement . (assignment_expression right: (anonymous_subroutine_expression)) @wrapped .) @wrapper

; has name => (…);
(expression_statement (ambiguous_function_call_expression
  function: (function) @_has
  arguments: [
    (list_expression . [(autoquoted_bareword) (string_literal)] @name)
    (string_literal) @name]
  (#eq? @_has "has"))) @definition.method

; base classes
(ambiguous_function_call_expression
  function: (function) @_extends
  arguments: [
    (string_literal (string_content) @reference.base)
    (list_expression (string_literal (string_content) @reference.base))]
  (#any-of? @_extends "extends" "with"))
(use_statement module: (package) @_parent [
    (string_literal (string_content) @reference.bases)
    (quoted_word_list (string_content) @reference.bases)
    (list_expression (string_literal (string_content) @reference.bases))]
  (#any-of? @_parent "base" "parent"))
(assignment_expression
  left: (variable_declaration variable: (array (varname) @_isa))
  right: (parenthesized_expression [
    (string_literal (string_content) @reference.base)
    (list_expression (string_literal (string_content) @reference.base))])
  (#eq? @_isa "ISA"))
(assignment_expression
  left: (variable_declaration variable: (array (varname) @_isa))
  right: (quoted_word_list (string_content) @reference.bases)
  (#eq? @_isa "ISA"))
(attribute name: (attribute_name) @_isa value: (attribute_value) @reference.base (#eq? @_isa "isa"))

[(comment) (pod)] @comment
(ERROR) @error
(MISSING) @error
