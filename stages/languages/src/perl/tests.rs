//! Tests for the outline of `sample.pl`, and for texts that are not Perl.

use super::{PERL, rejects};
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&PERL, include_str!("sample.pl")), @r"
    import Geometry::Base
    import Exporter
    import List::Util first max
    import Scalar::Util blessed
    import JSON
    import Geometry::Point
    import defaults.pl
    import Moose
    module Geometry::Shape 7-75 package Geometry::Shape | Shapes with an area. |  | is Geometry::Base Exporter Geometry::Old | exported
    function Geometry::Shape::new 38-42 sub new | new⏎⏎Makes a shape.⏎⏎⏎name⏎⏎The name. |  | 1 branches | exported
    function Geometry::Shape::area 46-65 sub area ($self, $scale) | The area of a shape.⏎Circles have a radius. | log compute Geometry::Shape::reset first_side trace old_style | 5 branches | 4 loops | exported
    function Geometry::Shape::area::visit 63-63 my $visit = sub |  | inner
    function Geometry::Shape::_private 67-67 sub _private |  |
    function Geometry::Shape::declared 69-69 sub declared |  |  | exported
    function Geometry::Shape::handler 71-73 my $handler = sub |  | handle | exported
    function Geometry::Shape::alias 75-75 *alias = sub |  |  | exported
    module Geometry::Circle 77-89 package Geometry::Circle |  |  | is Geometry::Shape Role::Named Role::Sized | exported
    method Geometry::Circle::radius 83-83 has radius => (is => 'ro', isa => 'Num') |  |  | exported
    method Geometry::Circle::lazy 84-84 has 'lazy' |  |  | exported
    function Geometry::Circle::area 86-89 sub area |  | PI radius | exported
    module Geometry::Square 91-93 package Geometry::Square |  |  | exported
    function Geometry::Square::side 92-92 sub side |  |  | exported
    class Geometry::Point 95-98 class Geometry::Point :isa(Geometry::Base) |  |  | is Geometry::Base | exported
    method Geometry::Point::move 97-97 method move |  |  | exported
    constants: PI SIDES ANGLE VERSION ISA count cache
    ");
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r#"
use constant LIMIT => 1;
use constant { LOW => 1, HIGH => 2 };
our ($one, @two, %three);
my $four = 4;
Readonly my $FIVE => 5;
for my $inside (@two) { my $hidden }
sub run { my $local = 1; our $global }
"#;
    assert_eq!(constants_of(&PERL, source), "LIMIT LOW HIGH one two three four FIVE");
}

#[test]
fn packages_extend_to_the_next_one() {
    let source = r#"package A;
sub f { 1 }

# The second.
package B;

=head2 g

Does it.

=cut

sub g { 2 }
{
    package C;
    sub h { 3 }
}
sub i { 4 }
"#;
    insta::assert_snapshot!(outline(&PERL, source), @r"
    module A 1-2 package A |  |  | exported
    function A::f 2-2 sub f |  |  | exported
    module B 5-18 package B | The second. |  | exported
    function B::g 13-13 sub g | g⏎⏎Does it. |  | exported
    module C 15-17 package C |  |  | exported
    function C::h 16-16 sub h |  |  | exported
    function B::i 18-18 sub i |  |  | exported
    ");
}

#[test]
fn texts_of_other_languages_are_rejected() {
    for (text, expected) in [
        (":- module(lists, [append/3]).\n\nappend([], L, L).\n", true),
        ("% Facts.\nparent(a, b).\n\nancestor(X, Y) :-\n    parent(X, Y).\n", true),
        ("use v6;\nuse Test;\n", true),
        ("A test of the shell:\n\n  $ ls\n  a\n", true),
        ("#!/usr/bin/perl\nuse strict;\n", false),
        ("package A;\n\n=pod\n\n:- not Prolog\n", false),
        ("print 1;\n", false),
        ("", false),
    ] {
        assert_eq!(rejects(text), expected, "{text}");
    }
}

/// The scanner of the grammar waits forever for the end of a here-document with interpolation.
#[test]
fn a_heredoc_without_an_end_is_not_parsed() {
    let failure = |text: &str| crate::Parser::new().parse(Some(&PERL), text).failure;
    for text in ["<<E\n$s", "<<A; <<A;\n$s\nA\n$s"] {
        assert_eq!(failure(text), Some(crate::ParseFailure::TooComplex), "{text}");
    }
    for text in ["print <<~E, <<'F';\n $s\n E\n$s\nF\n", "# <<E\n$s", "=pod\n\n<<E\n\n=cut\n\n$s", "1 << 2; $s"] {
        assert_eq!(failure(text), None, "{text}");
    }
}
