[(namespace_use_declaration) (include_expression) (include_once_expression) (require_expression) (require_once_expression)] @import
