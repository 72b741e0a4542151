//! Tests for the outline of `sample.swift`.

use super::SWIFT;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&SWIFT, include_str!("sample.swift")), @r#"
    import Foundation Foundation
    import Network.Endpoint Endpoint
    import Shop Shop
    function double 10-10 let double |  |
    class User 15-69 open class User<T>: Base<T>, Named where T: Hashable | A customer.⏎⏎- Note: not final. | User | is Base Named | exported
    method User.cache 20-20 lazy var cache: [Int] |  | compute
    method User.size 23-23 public var size: Int | Its size. |  | exported
    method User.both 24-27 var both: Int |  | resize
    method User.observed 28-30 var observed: Int = 0 |  | notify
    method User.init 33-33 public init(id: Int) throws | Makes one. | init | exported
    method User.init 34-34 convenience init?(name: String) |  | init
    method User.deinit 35-35 deinit |  | close
    method User.subscript 37-40 public subscript(index: Int) -> Int |  | items | exported
    method User.== 42-42 public static func == (left: User, right: User) -> Bool |  |  | 2 branches | exported
    method User.make 44-60 public class func make<U>(_ value: U, with size: Int = 2) async throws -> [U] |  | find print busy step more fallback parse log | 7 branches | 3 loops | exported
    function User.make.local 58-58 func local() |  |
    method User.secret 62-62 private func secret() |  | warn
    enum User.Kind 64-68 enum Kind: String, CaseIterable |  |  | is String CaseIterable
    method User.Kind.label 67-67 func label() -> String |  |
    struct Point 71-73 public struct Point: Codable |  |  | is Codable | exported
    class Store 75-77 actor Store |  |
    method Store.put 76-76 func put(_ value: Int) |  |
    interface Shape 79-85 public protocol Shape: AnyObject |  |  | is AnyObject | exported
    type Shape.Element 80-80 associatedtype Element |  |  | exported
    method Shape.area 81-81 var area: Double |  |  | exported
    method Shape.init 82-82 init(area: Double) |  |  | exported
    method Shape.scale 83-83 func scale(by factor: Int) -> Self |  |  | exported
    method Shape.+ 84-84 static func + (left: Self, right: Self) -> Self |  |  | exported
    implementation public extension User where T == Int 87-90 public extension User where T == Int |  |  | exported
    method User.total 88-88 func total() -> Int |  | reduce | of User | exported
    method User.hidden 89-89 private func hidden() |  |  | of User
    implementation extension Array<Int>: Shape 92-94 extension Array<Int>: Shape |  |  | is Shape
    method Array.sum 93-93 public func sum() -> Int |  | reduce | of Array | exported
    type Handler 96-96 typealias Handler = (Int) -> Void |  |
    function start 99-99 func start(_ arguments: [String]) -> Int | Starts. | make run
    function ** 100-100 func ** (base: Int, power: Int) -> Int |  |
    function - 101-101 prefix func - (value: Point) -> Point |  |
    function trace 104-104 func trace() |  |
    function trace 106-106 func trace(_ text: String) |  |
    function stringify 109-110 macro stringify(_ value: Int) -> String = #externalMacro(module: "Macros", type: "Stringify") |  |
    constants: ** Power limit first second shared name width height small large custom x y
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r#"
let a = 1, b = 2
var (c, d) = (1, 2)
let closure = { let hidden = 1 }
class E {
    static let f = 1
    var computed: Int { let hidden = 1; return hidden }
    lazy var g: Int = { 1 }()
    func run() { let hidden = 1 }
}
enum H { case i, j(Int) }
infix operator **: Power
"#;
    assert_eq!(constants_of(&SWIFT, source), "a b c d f i j **");
}
