//! Points and shapes.
use std::{collections::*, fmt::{self, Display}, io::Read as _};

/// A point.
#[derive(Debug)]
pub struct Point<T> { x: T }

impl<T: Copy> Point<T> {
    /// Makes one.
    #[inline]
    pub fn new(x: T) -> Self where T: Copy { if x.is_some()? { helper(x) } else { vec![] } }
}

impl fmt::Display for Point<u8> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { write!(f, "x") }
}

pub trait Shape: Base { fn area(&self) -> f64; fn name(&self) -> String { self.area().to_string() } }

mod inner { pub fn deep() { loop { crate::x::go::<u8>() } } }

macro_rules! twice { () => {} }

pub enum Kind { A, B(u8) }
pub(crate) type Alias = u8;
