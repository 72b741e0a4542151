//! Tests for the outline of `sample.rs`.

use super::RUST;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&RUST, include_str!("sample.rs")), @r#"
    import std::collections::* *
    import std::fmt fmt
    import std::fmt::Display Display
    import std::io::Read
    struct Point 5-6 pub struct Point<T> | A point. |  | exported
    implementation impl<T: Copy> Point<T> 8-12 impl<T: Copy> Point<T> |  |
    method Point::new 10-11 pub fn new(x: T) -> Self where T: Copy | Makes one. | is_some helper vec | of Point | 2 branches | exported
    implementation impl fmt::Display for Point<u8> 14-16 impl fmt::Display for Point<u8> |  |  | is Display
    method Point::fmt 15-15 fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result |  | write | of Point
    interface Shape 18-18 pub trait Shape: Base |  |  | is Base | exported
    method Shape::area 18-18 fn area(&self) -> f64 |  |  | exported
    method Shape::name 18-18 fn name(&self) -> String |  | area to_string | exported
    module inner 20-20 mod inner |  |
    function inner::deep 20-20 pub fn deep() |  | go | 1 loops | exported
    function twice 22-22 macro_rules! twice { () => {} } |  |
    enum Kind 24-24 pub enum Kind |  |  | exported
    type Alias 25-25 pub(crate) type Alias = u8 |  |  | exported
    constants: A B
    doc: Points and shapes.
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r##"
pub const MOST: usize = { const INSIDE: usize = 1; INSIDE };
static mut COUNT: u8 = 0;
const _: () = ();
enum Kind { Leaf, Branch(u8) }
impl Kind { const ROOT: Self = Self::Leaf; }
trait Shape { const SIDES: u8; }
mod inner { pub const DEEP: u8 = 1; }
fn run() { const LOCAL: u8 = 1; static HIDDEN: u8 = 2; let other = 3; }
"##;
    assert_eq!(constants_of(&RUST, source), "MOST COUNT Leaf Branch ROOT SIDES DEEP");
}

#[test]
fn items_in_macros_are_symbols() {
    let source = r##"
crate::cfg_net! {
    /// Binds.
    #[cfg(unix)]
    pub fn bind(address: &str) -> u8 { helper('{') }

    cfg_inner! {
        struct Deep;
    }
}

pin_project! {
    #[project = FutureProject]
    enum Future<F> where F: Clone { Ready { #[pin] inner: F }, Done }
}

bitflags! {
    struct Flags: u8 { const A = 1; }
}

fn run() {
    select! { fn_name = next() => {} }
    let x = quote! { pub fn not_here() {} };
    quote! {
        pub fn nor_here() {}
    }
}
"##;
    let outline = outline(&RUST, source);
    for expected in ["function bind 4-5", "struct Deep 8-8", "enum Future 13-14", "function run 21-27"] {
        assert!(outline.contains(expected), "{expected} in {outline}");
    }
    assert!(
        !["function not_here", "function nor_here", "Flags"].iter().any(|name| outline.contains(name)),
        "{outline}"
    );
}
