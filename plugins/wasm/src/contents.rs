//! Checks of the contents of a component before it is compiled.
//!
//! Fuel and memory limit the execution of a module, but not its compilation. The compiler tracks every variable in
//! every block of a function. In addition, every instance needs memory for its functions and globals.

use wasmparser::{FuncToValidate, FuncValidator, FuncValidatorAllocations, FunctionBody, Operator, Parser, Payload};
use wasmparser::{ValidPayload, Validator, ValidatorResources, WasmFeatures};

/// Maximum size of a function body, in bytes. The largest function in a Python interpreter has 430,000 bytes.
const MAX_BODY_BYTES: usize = 1 << 20;
/// Maximum number of variables in a function, counted once for each block. A JavaScript engine has 600,000.
const MAX_FUNCTION_VARIABLES: u64 = 5_000_000;
/// Maximum number of variables in all functions, counted once for each block. A JavaScript engine has 10,000,000.
const MAX_TOTAL_VARIABLES: u64 = 200_000_000;
/// Maximum nesting depth of loops.
const MAX_NESTED_LOOPS: usize = 100;
/// Maximum number of functions, globals and imports in all core modules. A Python interpreter has 16,000.
const MAX_ITEMS: u64 = 100_000;

/// Checks that compiling a component takes reasonable time and memory. Accepts invalid components, because the compiler
/// reports their errors.
///
/// # Errors
/// Returns a message for the author of the module.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    let mut validator = Validator::new_with_features(WasmFeatures::all());
    let (mut items, mut work) = (0, 0);
    for payload in Parser::new(0).parse_all(bytes) {
        let Ok(payload) = payload else { return Ok(()) };
        items += match &payload {
            Payload::CodeSectionEntry(_) => 1,
            Payload::ImportSection(imports) => u64::from(imports.count()),
            Payload::GlobalSection(globals) => u64::from(globals.count()),
            _ => 0,
        };
        if items > MAX_ITEMS {
            return Err(format!("the module has more than {MAX_ITEMS} functions, globals and imports"));
        }
        match validator.payload(&payload) {
            Ok(ValidPayload::Func(function, body)) => work += check_function(function, &body)?,
            Ok(_) => {}
            Err(_) => return Ok(()),
        }
        if work > MAX_TOTAL_VARIABLES {
            return Err("the module has too many branches and variables".to_owned());
        }
    }
    Ok(())
}

/// Checks the limits of a function. Returns the number of its variables, counted once for each block.
fn check_function(function: FuncToValidate<ValidatorResources>, body: &FunctionBody<'_>) -> Result<u64, String> {
    if body.range().len() > MAX_BODY_BYTES {
        return Err(format!("the module has a function with more than {MAX_BODY_BYTES} bytes"));
    }
    let mut validator = function.into_validator(FuncValidatorAllocations::default());
    let counted = count_variables(&mut validator, body);
    // Invalid code counts as zero here, because the compiler reports it.
    let (work, loops) = counted.unwrap_or_default();
    if work > MAX_FUNCTION_VARIABLES {
        return Err("the module has a function with too many branches and variables".to_owned());
    }
    if loops > MAX_NESTED_LOOPS {
        return Err(format!("the module has more than {MAX_NESTED_LOOPS} nested loops"));
    }
    Ok(work)
}

/// Counts the variables (locals, parameters and values on the stack) in each block, and the maximum nesting depth of
/// loops.
fn count_variables(
    validator: &mut FuncValidator<ValidatorResources>,
    body: &FunctionBody<'_>,
) -> wasmparser::Result<(u64, usize)> {
    let mut reader = body.get_binary_reader();
    validator.read_locals(&mut reader)?;
    let mut operators = wasmparser::OperatorsReader::new(reader);
    // `blocks` contains whether each open block is a loop.
    let (mut work, mut blocks, mut loops, mut max_loops) = (0, Vec::new(), 0, 0);
    while !operators.eof() {
        let (operator, offset) = operators.read_with_offset()?;
        validator.op(offset, &operator)?;
        match operator {
            Operator::Block { .. } | Operator::If { .. } => blocks.push(false),
            Operator::Loop { .. } => {
                blocks.push(true);
                loops += 1;
                max_loops = max_loops.max(loops);
            }
            Operator::End => loops -= usize::from(blocks.pop().unwrap_or_default()),
            Operator::Else | Operator::BrIf { .. } | Operator::BrTable { .. } => {}
            _ => continue,
        }
        work += u64::from(validator.len_locals()) + u64::from(validator.operand_stack_height());
    }
    Ok((work, max_loops))
}
