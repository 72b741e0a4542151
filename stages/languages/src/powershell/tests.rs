//! Tests for the outline of `sample.ps1`.

use super::POWERSHELL;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&POWERSHELL, include_str!("sample.ps1")), @r"
    import Archive.Tools *
    import System.IO *
    import Storage *
    import ./settings.ps1 *
    enum Day 18-21 enum Day | Names of the days on which backups run. |  | exported
    class Job 24-44 class Job : Base | A job. |  | is Base | exported
    method Job.Job 29-31 Job([string]$name) | Makes a job. |  | exported
    method Job.Run 33-35 [string] Run() |  | Invoke-Backup | exported
    method Job.Total 37-39 static [int] Total([int]$count) |  | Max | exported
    method Job.Reset 41-43 hidden [void] Reset() |  |
    function Invoke-Backup 46-79 function Invoke-Backup | .SYNOPSIS⏎Backs up one directory.⏎.PARAMETER Path⏎The directory. | Test-Path Remove-Item Write-Verbose Stop-Backup Get-ChildItem CopyTo Start-Sleep Test-Busy Wait-Backup Step First Second Save Write-Error | 6 branches | 4 loops | exported
    function Get-Count 82-85 function Global:Get-Count($Path) | Counts files. | Get-ChildItem Measure-Object | exported
    function Get-Count.Measure-One 83-83 function Measure-One($One) |  |
    function Even 87-89 filter Even |  |  | 1 branches | exported
    function Clear-Cache 91-91 function Clear-Cache { } |  |  | exported
    function Get-Count.counts files 96-98 It 'counts files' |  | Get-Count Should | exported
    constants: Limit Depth Cache Monday Friday Name tries
    calls outside symbols: Invoke-Backup
    doc: .SYNOPSIS⏎Backs up directories.
    ");
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r#"
$Limit = 5
[string]$Name = "x"
$script:Cache = @{ Key = 1 }
${odd name} = 2
$a.b = 3
function Run { $inside = 1 }
$block = { $hidden = 2 }
class C { [int]$Field; [void] M() { $local = 1 } }
enum E { One; Two }
"#;
    assert_eq!(constants_of(&POWERSHELL, source), "Limit Name Cache odd name block Field One Two");
}
