(use_statement module: (package) @_module (#not-eq? @_module "constant")) @import
(require_expression [(bareword) (string_literal) (interpolated_string_literal)]) @import
