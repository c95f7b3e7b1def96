"""Attention changed by hand: a page's list of edits in plain words, each with a switch; undo, redo, reset.

What a page does with it:

    EDITS = EditList(NAME)  # beside its fields: it is in the page's address, and so in links and session files

    plain = explain(model, text)  # as learned
    edits = EDITS.fitting(plain, input_id=text)  # the library's own edits, those that fit; others stay listed
    now = explain(model, text, edits) if edits else plain  # what the page shows; its script and notebook have the edits

    def draw():  # an experiment
        EDITS.add(edit, description="in words")  # in a button's callback, or by weight_editor
        EDITS.draw(now)
        show_outcome(labels, before, after)  # both answers, and what changed most
        show_weights_difference(NAME, plain, now)  # by how much each weight changed

Where a page has several attentions, each has a name and its own edits. `input_id` is the input to which positions
belong: another sentence's words stand elsewhere.
"""

from ui.edits.edit_list import EditList as EditList
from ui.edits.edit_list import ListedEdit as ListedEdit
from ui.edits.edit_list import input_hash as input_hash
from ui.edits.edit_list import name_in_stack as name_in_stack
from ui.edits.outcome import AS_COMPUTED as AS_COMPUTED
from ui.edits.outcome import describe_change as describe_change
from ui.edits.outcome import difference as difference
from ui.edits.outcome import draw_outcome as draw_outcome
from ui.edits.outcome import show_change as show_change
from ui.edits.outcome import show_contexts as show_contexts
from ui.edits.outcome import show_outcome as show_outcome
from ui.edits.outcome import show_weights_difference as show_weights_difference
from ui.edits.outcome import write_moved_share as write_moved_share
from ui.edits.weight_editor import WeightsRow as WeightsRow
from ui.edits.weight_editor import matrix_editor as matrix_editor
from ui.edits.weight_editor import weight_editor as weight_editor
