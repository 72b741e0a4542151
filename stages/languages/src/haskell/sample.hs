{-# LANGUAGE GADTs #-}

-- | Shapes and their areas.
module Geometry.Shape
  ( Shape (..)
  , Named (label, shout)
  , area
  , (<+>)
  , scale
  , module Geometry.Point
  ) where

import Control.Monad
import qualified Data.Map as Map
import qualified Data.Set
import Data.List (sortBy, (\\), Foldable (..))
import Geometry.Point as Point hiding (origin)

-- | A shape.
--
-- Circles have a radius.
data Shape
  = Circle Double
  | Rect { width :: Double, height :: Double } -- ^ A rectangle.
  | Shape :+: Shape
  deriving (Show, Eq)

newtype Area = Area { unArea :: Double } deriving Show

type Shapes = [Shape]
type a ~> b = a -> b

data Expr a where
  Number :: Int -> Expr Int

data left :*: right = Both left right

type family Elem c
data family Vector a

{-| Things with a name.
-}
class (Show a, Eq a) => Named a where
  -- | The name.
  label :: a -> String
  shout, whisper :: a -> String
  shout = map toUpper . label

instance Named Shape where
  label (Circle _) = "circle"
  label _ = "rectangle"
  whisper = label

deriving instance Ord Shape

pattern Unit x = Circle x

foreign import ccall "math.h sin" c_sin :: Double -> Double

-- | The area of a shape.
area :: Shape -> Double
area (Circle r) = pi * square r
  where
    square x = x * x
area Rect { width = w, height = h }
  | w < 0 || h < 0 = error "negative"
  | otherwise = if w == 0 then 0 else w * h
{-# INLINE area #-}

-- | Joins.
(<+>) :: Shapes -> Shapes -> Shapes
a <+> b = a `union` b

left `over` right = left : right

scale, shrink :: Double -> Shape -> Shape
scale f (Circle r) = Circle $ multiply f r

limit :: Int
limit = 10

total = sum . Map.elems . Map.map area

main :: IO ()
main = do
  shapes <- readShapes
  print $ length [area s | s <- shapes]
  forM_ shapes $ \s -> case s of
    Circle _ -> putStrLn "circle"
    _ -> printRect s
  getLine >>= run
  finish
