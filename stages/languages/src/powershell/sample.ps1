<#
.SYNOPSIS
Backs up directories.
#>

using module Archive.Tools
using namespace System.IO

Import-Module -Name Storage
. ./settings.ps1
. $Block

$Limit = 5
[int]$Depth = 2
$script:Cache = @{}

# Names of the days on which backups run.
enum Day {
    Monday
    Friday = 5
}

# A job.
class Job : Base {
    [string]$Name
    hidden [int]$tries = 1

    # Makes a job.
    Job([string]$name) {
        $this.Name = $name
    }

    [string] Run() {
        return Invoke-Backup $this.Name
    }

    static [int] Total([int]$count) {
        return [Math]::Max($count, 1)
    }

    hidden [void] Reset() {
        $this.tries = 0
    }
}

function Invoke-Backup {
    <#
    .SYNOPSIS
    Backs up one directory.
    .PARAMETER Path
    The directory.
    #>
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)]
        [string]$Path,
        [switch]$Force
    )
    $inside = 1
    if ((Test-Path $Path) -and $Force) {
        Remove-Item $Path
    } elseif ($Limit -gt 3) {
        Write-Verbose "skipped"
    } else {
        Stop-Backup
    }
    foreach ($file in Get-ChildItem $Path) {
        $file.CopyTo("backup")
    }
    for ($i = 0; $i -lt 3; $i++) { Start-Sleep 1 }
    while (Test-Busy) { Wait-Backup }
    do { Step } while ($true)
    switch ($Path) {
        "a" { First }
        default { Second }
    }
    try { Save } catch { Write-Error "failed" }
    & $Path
}

# Counts files.
function Global:Get-Count($Path) {
    function Measure-One($One) { $One.Length }
    (Get-ChildItem $Path | Measure-Object).Count
}

filter Even {
    if ($_ % 2 -eq 0) { $_ }
}

function Clear-Cache { }

Invoke-Backup -Path "/home"

Describe "Get-Count" {
    It 'counts files' {
        Get-Count "." | Should -Be 1
    }
}
