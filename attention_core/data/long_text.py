"""A text of our own, some four hundred tokens long, for what needs more than a sentence."""

THE_LIGHTHOUSE = """\
The lighthouse stood on the last rock of the island, and for forty years Marta had climbed its stairs every \
evening. There were two hundred and twelve steps. She had counted them so often that the numbers came by \
themselves, one for each foot, while she thought of other things: of the soup on the stove, of the letter from \
her brother, of the ships.

The lamp was old. It burned with a white flame behind a lens as tall as a man, and the lens turned on a bath of \
mercury, so smoothly that a child could have moved it with one finger. Every ten seconds the beam swept over the \
water. Ships that saw it knew where they were, and Marta, who saw only the beam, knew that they knew.

One autumn a storm came from the north. The wind took the roof of the boathouse and threw it into the sea. Marta \
climbed the two hundred and twelve steps in the dark, because the lantern in her hand had gone out, and when she \
reached the top she found that the glass was broken and the flame was gone. She could hear the waves below. \
Somewhere beyond them there was a ship: she had seen its red light before the storm closed over it.

She did not think for long. She took the lantern apart, tore a strip from her sleeve, and made a wick of it. The \
oil was cold and the matches were wet. The first match broke, the second went out, and the third burned just \
long enough. Then the flame stood up behind the lens, small and yellow, and the beam went out over the water \
again.

In the morning the sea was calm. A ship lay at anchor in the bay, and its captain came up the stairs to thank \
her. "How many steps are there?" he asked, when he had found his breath. "Two hundred and twelve," said Marta. \
"I counted two hundred and thirteen," said the captain. Marta smiled, because for forty years she had never \
counted the last one: the step from the stairs into the light.
"""
