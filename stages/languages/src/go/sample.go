// Package demo serves things.
package demo

import (
	_ "embed"
	"fmt"
	str "strings"

	"github.com/x/y/v2"
	"gopkg.in/yaml.v3"
)

const Limit = 10

// Server serves.
type Server struct {
	*Base
	io.Reader
	name string
}

type (
	// Handler handles.
	Handler interface {
		io.Closer
		// Handle one.
		Handle(x int) error
		Reset()
	}
	ID = string
	Fn func(int) int
)

// Run runs.
func (s *Server) Run(ctx context.Context) (err error) {
	for i := range s.items {
		if i > 0 && s.ok {
			fmt.Println(i)
		}
	}
	switch s.name {
	case "a":
		start()
	default:
		stop()
	}
	return Wrap(Server{}, str.ToLower("x"))
}

func Map[T any](xs List[T]) T { return apply[T](xs) }

func (l *List[T]) len() int { return 1 }

var handler = func(x int) {}
