#!/usr/bin/perl
use strict;
use warnings;
use v5.36;

# Shapes with an area.
package Geometry::Shape;

use parent qw(Geometry::Base -norequire);
use base 'Exporter';
use List::Util qw(first max);
use Scalar::Util 'blessed';
use JSON;
require Geometry::Point;
require "defaults.pl";

use constant PI => 3.14159;
use constant { SIDES => 4, ANGLE => 90 };

our $VERSION = '1.0';
our @ISA = ('Geometry::Old');
my ($count, %cache);

=head2 new

Makes a shape.

=over

=item name

The name.

=back

=cut

sub new {
    my ($class, %args) = @_;
    my $self = { name => $args{name} || 'none' };
    return bless $self, $class;
}

# The area of a shape.
# Circles have a radius.
sub area ($self, $scale) {
    if ($scale and $scale > 1) {
        $self->log($scale);
    } elsif (!$scale) {
        return compute($self);
    } else {
        Geometry::Shape::reset();
    }
    for my $side (1 .. 4) {
        first_side($side) unless $side;
    }
    while ($count) { $count-- }
    for (my $i = 0; $i < 3; $i++) { trace $i; }
    print for @ISA;
    $self->$scale(1);
    &$scale(1);
    &old_style(1);
    my $visit = sub { return inner(1) };
    return $scale ? 1 : 2;
}

sub _private { return 1 }

sub declared;

my $handler = sub {
    handle(shift);
};

*alias = sub { 2 };

package Geometry::Circle;

use Moose;
extends 'Geometry::Shape';
with 'Role::Named', 'Role::Sized';

has radius => (is => 'ro', isa => 'Num');
has 'lazy';

sub area {
    my $self = shift;
    return PI * $self->radius ** 2;
}

package Geometry::Square {
    sub side { return 1 }
}

class Geometry::Point :isa(Geometry::Base) {
    field $x;
    method move { $x++ }
}

1;

__END__

=head1 NAME

Geometry - shapes
