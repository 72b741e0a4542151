(call !receiver method: (identifier) @_require
  (#any-of? @_require "require" "require_relative" "load" "autoload" "require_dependency")) @import
