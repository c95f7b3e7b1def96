"""What goes along a sequence or the steps of a trace, and what pages show of a step."""

from ui.player.chart import described_key as described_key
from ui.player.chart import show_numbers as show_numbers
from ui.player.chart import show_step_chart as show_step_chart
from ui.player.chart import style_at_query as style_at_query
from ui.player.export import OFFLINE_BYTES as OFFLINE_BYTES
from ui.player.export import download_table as download_table
from ui.player.export import export_bar as export_bar
from ui.player.picture import StepStyle as StepStyle
from ui.player.play import Player as Player
from ui.player.stepper import Stepper as Stepper
from ui.player.steps import step_of as step_of
from ui.player.walk import Walk as Walk
from ui.player.words import CODE_OPEN as CODE_OPEN
from ui.player.words import query_row as query_row
from ui.player.words import show_step_heading as show_step_heading
from ui.player.words import show_words as show_words
