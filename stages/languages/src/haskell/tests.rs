//! Tests for the outline of `sample.hs`, and for visibility in modules without an export list.

use super::HASKELL;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&HASKELL, include_str!("sample.hs")), @r#"
    import Control.Monad *
    import Data.Map Map
    import Data.Set Data.Set
    import Data.List sortBy \\ Foldable
    import Geometry.Point Point *
    struct Shape 22-26 data Shape | A shape.⏎⏎Circles have a radius. |  | is Show Eq | exported
    struct Area 28-28 newtype Area |  |  | is Show
    type Shapes 30-30 type Shapes = [Shape] |  |
    type ~> 31-31 type a ~> b = a -> b |  |
    struct Expr 33-34 data Expr a |  |
    struct :*: 36-36 data left :*: right |  |
    type Elem 38-38 type family Elem c |  |
    type Vector 39-39 data family Vector a |  |
    interface Named 43-47 class (Show a, Eq a) => Named a | Things with a name. |  | is Show Eq | exported
    method Named.label 45-45 label :: a -> String | The name. |  | exported
    method Named.shout 46-47 shout, whisper :: a -> String |  | map label | exported
    implementation instance Named Shape 49-52 instance Named Shape |  |  | of Named | is Named | exported
    method Named.Shape.label 50-51 label (Circle _) |  |  | of Named.Shape | exported
    method Named.Shape.whisper 52-52 whisper |  |  | of Named.Shape | exported
    implementation deriving instance Ord Shape 54-54 deriving instance Ord Shape |  |  | of Ord | is Ord | exported
    function c_sin 58-58 foreign import ccall "math.h sin" c_sin :: Double -> Double |  |
    function area 61-67 area :: Shape -> Double | The area of a shape. | square error | 4 branches | exported
    function area.square 64-64 square x |  |
    function <+> 71-72 (<+>) :: Shapes -> Shapes -> Shapes | Joins. | union | exported
    function over 74-74 left `over` right |  |
    function scale 76-77 scale, shrink :: Double -> Shape -> Shape |  | multiply | exported
    function limit 79-80 limit :: Int |  |
    function total 82-82 total |  | sum elems map
    function main 84-92 main :: IO () |  | readShapes print length area forM_ putStrLn printRect run finish | 2 branches | 2 loops
    constants: Circle Rect width height :+: Area unArea Number Both Unit
    doc: Shapes and their areas.
    "#);
}

#[test]
fn constructors_and_fields_are_listed() {
    let source = r#"
module A where
data T = A Int | B { one, two :: Int } | Int :> Int
newtype N = N { unN :: T }
data G where { Made :: Int -> G }
pattern P x = A x
f x = x { one = 1 } where g = 1
"#;
    assert_eq!(constants_of(&HASKELL, source), "A B one two :> N unN Made P");
}

#[test]
fn modules_without_an_export_list_export_everything() {
    let source =
        "module A where\n\n-- | Doubles.\nf :: Int -> Int\nf x = g x + g x\n  where g y = y\n\nmain = print f\n";
    insta::assert_snapshot!(outline(&HASKELL, source), @r"
    function f 4-6 f :: Int -> Int | Doubles. | g | exported
    function f.g 6-6 g y |  |
    function main 8-8 main |  | print | exported
    ");
}

#[test]
fn a_quote_at_the_end_is_part_of_a_name() {
    let source = "module A where\n\ntype Lens' s a = Lens s s a a\n\nfold' :: Int -> Int\nfold' x = go' x\n  where go' = (+ 1)\n";
    insta::assert_snapshot!(outline(&HASKELL, source), @"
    type Lens' 3-3 type Lens' s a = Lens s s a a |  |  | exported
    function fold' 5-7 fold' :: Int -> Int |  | go' | exported
    ");
}
