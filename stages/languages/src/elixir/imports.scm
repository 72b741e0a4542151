(call target: (identifier) @_import (arguments . [(alias) (dot)])
  (#any-of? @_import "alias" "import" "require" "use")) @import
