//! Tests for the outline of `sample.go`.

use super::GO;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&GO, include_str!("sample.go")), @r#"
    import embed
    import fmt fmt
    import strings str
    import github.com/x/y/v2 y
    import gopkg.in/yaml.v3 yaml
    struct Server 16-20 type Server struct | Server serves. |  | is Base Reader | exported
    interface Handler 24-29 Handler interface | Handler handles. |  | is Closer | exported
    method Handler.Handle 27-27 Handle(x int) error | Handle one. |  | exported
    method Handler.Reset 28-28 Reset() |  |  | exported
    type ID 30-30 ID = string |  |  | exported
    type Fn 31-31 Fn func(int) int |  |  | exported
    method Server.Run 35-48 func (s *Server) Run(ctx context.Context) (err error) | Run runs. | Println start stop Wrap Server ToLower | of Server | 3 branches | 1 loops | exported
    function Map 50-50 func Map[T any](xs List[T]) T |  |  | exported
    method List.len 52-52 func (l *List[T]) len() int |  |  | of List
    function handler 54-54 var handler = func(x int) |  |
    constants: Limit
    doc: Package demo serves things.
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r##"
package demo

const Limit, Least = 10, 1
const (
	_  = iota
	KB = 1 << (10 * iota)
	MB
)

var ErrGone = errors.New("gone")
var (
	cache, spare map[string]int
	handler      = func() { var inside = 1 }
	_ io.Reader  = (*File)(nil)
)

func Run() {
	const local = 1
	var other = func() { const deeper = 2 }
}
"##;
    assert_eq!(constants_of(&GO, source), "Limit Least KB MB ErrGone cache spare");
}
