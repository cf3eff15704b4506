"""The rows of the op table, by family. Importing this package fills `adc.ir.opdef.OPS`."""

from adc.ir.ops import arith as arith
from adc.ir.ops import array as array
from adc.ir.ops import integer as integer
from adc.ir.ops import math as math
from adc.ir.ops import random as random
from adc.ir.ops import special as special
