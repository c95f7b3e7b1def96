"""What goes along a sequence or the steps of a trace, and what pages show of a step."""

from ui.player.chart import described_key as described_key
from ui.player.chart import show_numbers as show_numbers
from ui.player.export import OFFLINE_BYTES as OFFLINE_BYTES
from ui.player.export import download_table as download_table
from ui.player.export import export_bar as export_bar
from ui.player.numbers import MAX_MATRIX_SIDE as MAX_MATRIX_SIDE
from ui.player.numbers import show_all_numbers as show_all_numbers
from ui.player.picture import StepStyle as StepStyle
from ui.player.picture import show_step_picture as show_step_picture
from ui.player.play import Player as Player
from ui.player.stepper import Stepper as Stepper
from ui.player.steps import step_of as step_of
from ui.player.walk import Walk as Walk
from ui.player.words import CODE_OPEN as CODE_OPEN
from ui.player.words import query_row as query_row
from ui.player.words import show_step_heading as show_step_heading
