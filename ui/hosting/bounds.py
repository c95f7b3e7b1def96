"""Every bound of the app on what visitors send, with its reason, which SECURITY.md lists; see also the library's."""

from attention_core.bounds.limits import MIB, NONE, Bound

# files that are sent
UPLOAD_BYTES = Bound("bytes of an upload", NONE, "131,072 positions in float32 with their header", 104 * MIB)
SESSION_UPLOAD_BYTES = Bound("bytes of a session's uploads", NONE, "the largest file and some small ones", 128 * MIB)
UPLOADS_BYTES = Bound("bytes of all uploads in a process", NONE, "they are kept in memory", 512 * MIB)
UPLOAD_SECONDS = Bound("seconds in which nothing comes of an upload", NONE, "it keeps the others out", 60)
# what a browser sends over its websocket
MESSAGES_AT_FIRST = Bound("messages of a browser that has just come", NONE, "a page that opens sends one", 4)
MESSAGES_AT_ONCE = Bound("messages of a browser at once", NONE, "who clicks fast pauses, too", 15)
MESSAGES_PER_SECOND = Bound("messages of a browser a second", NONE, "more share what is for all", 1)
MESSAGES_BEYOND = Bound("messages a second beyond those, of all browsers", NONE, "each may run a page", 6)
MESSAGES_SECONDS = Bound("seconds that a browser's messages wait without a pause", NONE, "it may be gone", 60)
# what is sent, packed
EDIT_LETTERS = Bound("letters that say what an edit does", 400, "it is a sentence")
# tables, tensors, recordings
RECORDING_BYTES = Bound(
    "bytes of a recording in memory", 1_000_000_000, "one visitor's file leaves room for the others", 200_000_000
)
OPENED_BYTES = Bound(
    "bytes of all opened recordings and tensors", 4_000_000_000, "the least recently used leave", 256 * MIB
)
# texts
SENTENCE_LETTERS = Bound("letters of a box for a sentence", 6_000, "a pasted page is kept, of which a part is read")
QUESTION_BOX_LETTERS = Bound("letters of the box for a question", 4_000, "what is too long is kept and told")
PREFIX_LETTERS = Bound("letters of a translation that is begun", 200, "the longest translations are shorter")
QUESTIONED_PIECES = Bound("pieces of a sentence and its French that are erased", 50, "in some five hundred ways")
PASSAGE_LETTERS = Bound("letters of a text for the recurrent network", 1_500, "it reads 128 pieces")
SEARCH_LETTERS = Bound("letters of a search", 100, "labels are shorter")
LONG_TEXT_LETTERS = Bound("letters of a text for the atlas", 200_000, "its pieces are fewer than are read")
RECORDS = Bound("records of a dictionary", 64, "each is a row that is drawn")
RECORD_LETTERS = Bound("letters of a record's cell", 600, "a sentence model reads fewer")
QUERIES = Bound("queries of a dictionary at once", 12, "each is a row that is drawn")
QUERY_LETTERS = Bound("letters of a query of a dictionary", 200, "a sentence model reads few more")
# models of others
WRITTEN_TOKENS = Bound("tokens that a visitor lets a model write", 256, "each costs a run")
# what the server keeps and how long it works
RUNS = Bound("runs of models in memory", 4, "each keeps all its heads", 3)
VALUE_BYTES = Bound("bytes of values kept for all visitors", 96 * MIB, "what is asked again is asked soon", 64 * MIB)
TRAINING_SECONDS = Bound("seconds that a training on a page computes", 3_600, "then it rests", 300)
QUEUE = Bound("visitors who wait for a heavy run", 8, "who is behind them had better come back")
DOWNLOADS = Bound("models that are fetched at a time", 4, "a slow one keeps no other waiting")
HALL_ROOMS = Bound("rooms of halls that are open", 100, "each is asked again by its phones", 50)
HALL_ROOMS_OF_ADDRESS = Bound("open rooms of one address", NONE, "a faculty behind one router", 8)
HALL_PHONES = Bound("phones in a room", 1_000, "no hall is larger")
HALL_PHONES_OF_ADDRESS = Bound("phones of one address in a room", 500, "a hall behind one router")
HALL_WRONG_CODES = Bound("wrong codes of rooms from one address at once", 600, "a hall asks once for a closed room")
HALL_WRONG_CODES_PER_SECOND = Bound("wrong codes a second beyond those", 2, "nobody guesses a code within days")
HALL_QUESTIONS = Bound("questions of a room", 300, "three hours have no more")
HALL_ANSWER_SECONDS = Bound("seconds in which a phone's answer comes", 10, "it keeps a connection")
HALL_ANSWER_BYTES = Bound("bytes of a phone's answer", 300, "a number and a name")
