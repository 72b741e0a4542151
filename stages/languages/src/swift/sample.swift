import Foundation
import struct Network.Endpoint
@testable import Shop

infix operator **: Power
precedencegroup Power { associativity: right }

let limit = 10
var (first, second) = (1, 2)
let double = { (x: Int) in x * 2 }

/// A customer.
///
/// - Note: not final.
@available(iOS 13, *)
open class User<T>: Base<T>, Named where T: Hashable {
    public static let shared = User()
    public private(set) var name: String = "x"
    let width = 1, height = 2
    lazy var cache: [Int] = { compute() }()

    /// Its size.
    public var size: Int { return items.count }
    var both: Int {
        get { width }
        set { resize(newValue) }
    }
    @Published var observed: Int = 0 {
        didSet { notify() }
    }

    /** Makes one. */
    public init(id: Int) throws { super.init() }
    convenience init?(name: String) { self.init(id: 1) }
    deinit { close() }

    public subscript(index: Int) -> Int {
        get { items[index] }
        set { items[index] = newValue }
    }

    public static func == (left: User, right: User) -> Bool { left.id == right.id && left.open || false }

    @discardableResult
    public class func make<U>(_ value: U, with size: Int = 2) async throws -> [U] {
        guard let id = find(value) else { return [] }
        if size > 1 {
            for item in items { print(item) }
        }
        while busy() {}
        repeat { step() } while more()
        switch size {
        case 1: break
        default: fallback()
        }
        do { try Parser.parse(value) } catch { log(error) }
        let result = try await [U](repeating: value ?? other, count: size > 1 ? 1 : 2)
        func local() {}
        return result
    }

    private func secret() { #warn("x") }

    enum Kind: String, CaseIterable {
        case small = "s", large
        case custom(Int)
        func label() -> String { rawValue }
    }
}

public struct Point: Codable {
    var x, y: Int
}

actor Store {
    func put(_ value: Int) {}
}

public protocol Shape: AnyObject {
    associatedtype Element
    var area: Double { get }
    init(area: Double)
    func scale(by factor: Int) -> Self
    static func + (left: Self, right: Self) -> Self
}

public extension User where T == Int {
    func total() -> Int { reduce() }
    private func hidden() {}
}

extension Array<Int>: Shape {
    public func sum() -> Int { reduce(0, +) }
}

typealias Handler = (Int) -> Void

// Starts.
func start(_ arguments: [String]) -> Int { User.make(1).run { $0 } }
func ** (base: Int, power: Int) -> Int { 1 }
prefix func - (value: Point) -> Point { value }

#if DEBUG
func trace() {}
#else
func trace(_ text: String) {}
#endif

@freestanding(expression)
macro stringify(_ value: Int) -> String = #externalMacro(module: "Macros", type: "Stringify")
