"""Edits: small values, each a change of attention, which every way of computing it applies in the same way.

A new one is a class in one of the files here, named below; links, pages, models and shown code then know it.
"""

from attention_core.attention.edits.edit import EDITS as EDITS
from attention_core.attention.edits.edit import UNIFORM as UNIFORM
from attention_core.attention.edits.edit import BlockEdge as BlockEdge
from attention_core.attention.edits.edit import BlockKeys as BlockKeys
from attention_core.attention.edits.edit import CellEdit as CellEdit
from attention_core.attention.edits.edit import DropHead as DropHead
from attention_core.attention.edits.edit import Edit as Edit
from attention_core.attention.edits.edit import EditError as EditError
from attention_core.attention.edits.edit import Edits as Edits
from attention_core.attention.edits.edit import HeadEdit as HeadEdit
from attention_core.attention.edits.edit import HeadRef as HeadRef
from attention_core.attention.edits.edit import NoScale as NoScale
from attention_core.attention.edits.edit import PermuteKeys as PermuteKeys
from attention_core.attention.edits.edit import QueryEdit as QueryEdit
from attention_core.attention.edits.edit import SetScore as SetScore
from attention_core.attention.edits.edit import Temperature as Temperature
from attention_core.attention.edits.edit import Uniform as Uniform
from attention_core.attention.edits.edit import drop_heads as drop_heads
from attention_core.attention.edits.edit import refuse_edits as refuse_edits
from attention_core.attention.edits.edit import restrict_queries as restrict_queries
from attention_core.attention.edits.parse import edits_from_json as edits_from_json
from attention_core.attention.edits.replacement import BatchWeights as BatchWeights
from attention_core.attention.edits.replacement import OutputFrom as OutputFrom
from attention_core.attention.edits.replacement import PatternFrom as PatternFrom
from attention_core.attention.edits.replacement import SetWeights as SetWeights
from attention_core.attention.edits.replacement import with_runs as with_runs
from attention_core.deprecated import renamed_names

__getattr__ = renamed_names(__name__, RunHead="HeadRef")
