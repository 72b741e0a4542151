//! Tests for the outline of `sample.xml`.

use super::XML;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&XML, include_str!("sample.xml")), @r#"
    block project 4-60 <project xmlns="http://example.org/build"> | The build of a library. |
    block project/build/plugins 16-33 <plugins> |  |
    block project/beans/bean/dataSource 37-41 <bean id="dataSource" class="org.example.PooledDataSource"> |  |  | of project/beans/bean
    block project/rows 44-49 <rows> |  |
    block project/description 53-59 <description> |  |
    constants: artifactId version dependencies
    "#);
}
