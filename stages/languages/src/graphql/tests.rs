//! Tests for the outline of `sample.graphql`.

use super::GRAPHQL;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&GRAPHQL, include_str!("sample.graphql")), @r#"
    block schema 3-6 schema |  |  | exported
    struct Query 8-14 type Query | What can be asked. | Int ProductFilter Product | exported
    struct Mutation 16-18 type Mutation |  | ID Order | exported
    interface Node 20-22 interface Node |  | ID | exported
    struct Product 24-28 type Product implements Node & Priced @key(fields: "id") | Something that is for sale. | ID Money | is Node Priced | exported
    struct Product 30-32 extend type Product |  | Int | exported
    struct ProductFilter 34-37 input ProductFilter |  | String Money | exported
    enum Role 39-43 enum Role |  |  | exported
    type Money 46-46 scalar Money | Amount and currency. |  | exported
    type Result 47-47 union Result = Product | Order |  | Product Order | exported
    block auth 48-48 directive @auth(role: Role) repeatable on FIELD_DEFINITION |  | Role | exported
    function FindProducts 50-54 query FindProducts($first: Int!) |  | Int ProductParts | exported
    function ProductParts 56-59 fragment ProductParts on Product |  | Product | exported
    constants: products buy BUYER id id price stock name maximum BUYER SELLER
    doc: A schema of a shop.
    "#);
}
