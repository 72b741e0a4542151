//! Tests for the outline of `sample.tf`.

use super::HCL;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&HCL, include_str!("sample.tf")), @r#"
    block terraform 3-5 terraform |  |  | exported
    block variable.region 8-11 variable "region" | Where everything runs. |  | of variable | exported
    block locals 13-18 locals |  |  | exported
    block resource.aws_instance.web 21-29 resource "aws_instance" "web" | One server. |  | of resource.aws_instance | exported
    block data.aws_ami.ubuntu 31-33 data "aws_ami" "ubuntu" |  |  | of data.aws_ami | exported
    block module.network 35-38 module "network" |  |  | of module | exported
    block output.address 40-45 output "address" |  |  | of output | exported
    constants: name tags
    doc: The network of the service.
    "#);
}

#[test]
fn only_the_first_name_of_a_block_is_its_type() {
    let outline = outline(&HCL, "a locals {\n  b = 1\n}\nlocals {\n  c = 1\n}\n");
    assert!(outline.contains("constants: c\n"), "{outline}");
}
