"""All that adc uses of Numba beyond its documented interface, and whether it is there.

No other module imports from inside of Numba (`adc.backend.cuda.api` is the one for `numba.cuda`,
which is a package of its own). Names are `Any`: Numba's own types cover some of it.

Importing this module checks what is listed in `_NEEDED`. A version of Numba that nobody has tried
compiles and runs a small function besides, before the first one of a user (`adc.backend.cpu`).
"""

from __future__ import annotations

import types as python_types
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding
import llvmlite.ir
import numba
import numba.core.caching
import numba.core.callconv
import numba.core.cgutils
import numba.core.codegen
import numba.core.compiler
import numba.core.compiler_lock
import numba.core.compiler_machinery
import numba.core.cpu
import numba.core.datamodel
import numba.core.ir
import numba.core.lowering
import numba.core.pythonapi
import numba.core.registry
import numba.core.runtime.nrt
import numba.core.runtime.nrtdynmod
import numba.core.serialize
import numba.core.typed_passes
import numba.core.types
import numba.core.typing.builtins
import numba.core.typing.context
import numba.core.typing.templates

# These register the operators of scalars.
import numba.cpython.builtins
import numba.cpython.numbers

from adc.ir.errors import UnfitPackageError
from adc.ir.types import Array, Scalar, Type

# The versions that the whole test suite has passed with.
TRIED = ("0.68",)

_inside: Any = numba.core
cgutils: Any = _inside.cgutils
types: Any = _inside.types
datamodel: Any = _inside.datamodel
templates: Any = _inside.typing.templates
signature: Any = templates.signature
# Held during every call of LLVM, such as when a module is freed.
llvm_lock: Any = llvmlite.binding.ffi.lib._lock
compiler_lock: Any = _inside.compiler_lock.global_compiler_lock
runtime_system: Any = _inside.runtime.nrt.rtsys
compile_nrt_functions: Any = _inside.runtime.nrtdynmod.compile_nrt_functions
callconv: Any = _inside.callconv
numba_ir: Any = _inside.ir
cpu_target: Any = _inside.registry.cpu_target
config: Any = numba.config
RETCODE_OK: Any = callconv.RETCODE_OK
TypingContext: Any = _inside.typing.context.Context
CPUContext: Any = _inside.cpu.CPUContext
PythonAPI: Any = _inside.pythonapi.PythonAPI
CPUTarget: Any = _inside.registry.CPUTarget
CPUDispatcher: Any = _inside.registry.CPUDispatcher
Lower: Any = _inside.lowering.Lower
CompilerBase: Any = _inside.compiler.CompilerBase
JITCodeLibrary: Any = _inside.codegen.JITCodeLibrary
NativeLowering: Any = _inside.typed_passes.NativeLowering
NoPythonBackend: Any = _inside.typed_passes.NoPythonBackend
PassManager: Any = _inside.compiler_machinery.PassManager
register_pass: Any = _inside.compiler_machinery.register_pass
CompileResult: Any = _inside.compiler.CompileResult
compile_result: Any = _inside.compiler.compile_result
NoCache: Any = _inside.caching.NullCache
dumps: Any = _inside.serialize.dumps

# What is used of each: its attributes and methods, and those of its objects.
_NEEDED: tuple[tuple[Any, str], ...] = (
    (templates, "Registry builtin_registry signature"),
    (templates.Registry, "globals"),
    (TypingContext, "_load_builtins install_registry load_additional_registries refresh "
                    "resolve_function_type resolve_value_type"),
    (CPUContext, "add_linking_libs call_conv cast codegen data_model_manager declare_function "
                 "add_dynamic_addr get_data_type get_executable get_function "
                 "get_preferred_array_alignment get_python_api get_value_type "
                 "load_additional_registries make_array make_tuple nrt pack_value unpack_value"),
    (cgutils, "alloca_once for_range for_range_slice get_item_pointer2 get_or_insert_function "
              "if_unlikely is_null loop_nest memset raw_memcpy unpack_tuple voidptr_t"),
    (PythonAPI, "get_c_object serialize_object unserialize"),
    (CPUTarget, "_target_name _toplevel_target_context _toplevel_typing_context typing_context"),
    (CPUDispatcher, "_cache compile disable_compile py_func targetdescr targetoptions"),
    (Lower, "builder call_conv call_helper context function init lower_normal_function module"),
    (JITCodeLibrary, "_codegen _compiled_object _final_module _finalize_dynamic_globals "
                     "_ensure_finalized _finalize_final_module _finalize_specific _finalized "
                     "_optimize_final_module _verify_declare_only_symbols add_llvm_module "
                     "get_pointer_to_function has_dynamic_globals"),
    (_inside.codegen.JITCPUCodegen, "_customize_tm_options _data_layout _engine _tm _tm_features "
                                    "set_env"),
    (_inside.codegen.JitEngine, "_ee get_function_address"),
    (llvmlite.binding.ffi._lib_fn_wrapper, "_cfn"),
    (NativeLowering, "lowering_class run_pass"),
    (CompilerBase, "define_pipelines"),
    (compiler_lock, "is_locked release"),
    (PassManager, "add_pass finalize"),
    (numba_ir, "FunctionIR Loc"),
    (datamodel, "models register_default"),
    (datamodel.models, "ArrayModel"),
    (CompileResult, "_find_referenced_environments environment fndesc library "
                    "referenced_envs signature"),
    (NoCache, "load_overload save_overload"),
    (runtime_system, "initialize library"),
    (llvmlite.binding, "create_new_function_pass_manager create_pass_builder "
                       "create_pipeline_tuning_options"),
)  # fmt: skip


def missing(needed: tuple[tuple[Any, str], ...] = _NEEDED) -> Iterator[str]:
    """Yield what adc uses and this version of Numba does not have."""
    for owner, names in needed:
        found = set(dir(owner))
        # What an object gets when it is made is named in the code that sets it.
        for each in getattr(owner, "__mro__", ()):
            for made in vars(each).values():
                if isinstance(made, python_types.FunctionType):
                    found.update(made.__code__.co_names)
        for name in names.split():
            if name not in found:
                yield f"{getattr(owner, '__qualname__', owner)}.{name}"


def unfit(what: str) -> UnfitPackageError:
    """Return the error that says that this version of Numba is not one for adc."""
    return UnfitPackageError(
        f"numba {numba.__version__} does not fit: {what}", None,
        f"install one that was tried: pip install 'numba=={TRIED[-1]}.*'",
    )  # fmt: skip


def is_tried() -> bool:
    """Whether the whole test suite has passed with this version of Numba."""
    version: str = numba.__version__
    return version.startswith(tuple(f"{each}." for each in TRIED))


def array_of_words(context: Any, b: Any, data: Any, size: int) -> Any:
    """Return an array of so many `int64` at an address, which owns no memory."""
    import numba.np.arrayobj  # it loads much that emitted code does not need

    word = llvmlite.ir.IntType(64)
    eight = word(8)
    made = context.make_array(types.Array(types.int64, 1, "C"))(context, b)
    populate: Any = numba.np.arrayobj.populate_array
    populate(made, data, [word(size)], [eight], eight, meminfo=None)
    return made._getvalue()


def unlocked(name: str) -> Any:
    """Return a function of LLVM's that other threads may call meanwhile, in other contexts."""
    function: Any = getattr(llvmlite.binding.ffi.lib, name)
    return function._cfn


def launch_threads() -> None:
    """Start Numba's threads, and make the function that gives them work known to LLVM."""
    import numba.np.ufunc.parallel

    launch: Any = numba.np.ufunc.parallel._launch_threads
    launch()


class Intrinsic:
    """A function of emitted code that is written as LLVM's instructions where it is called.

    `define` takes and returns what Numba's intrinsics do. Numba itself knows nothing of ours: it
    would load all that it has before it asked for the first one.
    """

    def __init__(self, define: Callable[..., Any]) -> None:
        self.define = define
        self.__doc__ = define.__doc__

    def __call__(self, *args: Any) -> Any:
        raise NotImplementedError


intrinsic = Intrinsic


def _numba_scalar(dtype: str) -> Any:
    return numba_dtype(Scalar(dtype).numpy.name)


def numba_dtype(name: str) -> Any:
    """Return Numba's type for numbers of one of NumPy's dtypes.

    Those of 16 bits are integers for Numba, which cannot convert them.
    """
    named = {"bool": types.boolean, "bool_": types.boolean, "float16": types.uint16}
    return named.get(name) or getattr(types, name)


class Table(types.Array):  # type: ignore[misc]  # a class of a module without types
    """The type of an array whose parts along the first axis lie apart.

    What is the address of the elements of another array is that of a table of addresses, one for
    each part; each part lies in C order.
    """


# What a table is passed as: its sizes, and then the addresses of its parts.
WORDS = types.Array(types.int64, 1, "C")
datamodel.register_default(Table)(datamodel.models.ArrayModel)


def numba_type(ty: Type) -> Any:
    """Return Numba's type for a type of the IR."""
    if isinstance(ty, Array):
        return types.Array(_numba_scalar(ty.dtype), ty.rank, ty.layout)
    return _numba_scalar(ty.dtype)


if _lacking := ", ".join(missing()):
    raise unfit(f"it has no {_lacking}")
