"""Record the attention of any PyTorch code: `with capture() as p: my_model(x)`, then `p.traces`.

Every call of torch.nn.functional.scaled_dot_product_attention and of nn.MultiheadAttention in the block becomes a
trace, also where a module imported the function by its name, and so does attention that is written out: a softmax whose
result meets values in a product of matrices. Calls of other threads are left alone, and the model computes what it
would compute without: nothing that is recorded can change or stop it. What torch itself refuses while a block watches,
`capture` tells.

How that works
--------------
**Two places to listen.** torch lets a thread watch the functions that Python calls (a TorchFunctionMode) and, below
them, the few operations that all of them are made of (a TorchDispatchMode): matmul, @, einsum and bmm are all bmm
there. `watch.py` listens above. A fused attention comes by with its query, key, value and mask, which are all that a
trace needs. nn.MultiheadAttention calls its fused attention inside, out of sight of the former; so it is run once more
for the record alone, in inference mode, where the latter sees the call.

**Attention that is written out** has no name to know it by, so `written_out.py` listens below and follows numbers. It
knows the operations in the list of `operations.py`: products of matrices, softmaxes, and what is done element by
element (times, plus, masked_fill, where, tanh, dropout). Of each product it remembers the two factors; of each step
after it, what was done. When a softmax takes such a tensor, its weights remember the way; when the weights meet a
tensor in another product, that was attention, and the way back tells queries, keys, scale, cap, bias and mask.

Weights times values number by number, added up over the keys, are such a product of one query. Exponentials that are
divided by their sums, before or after that product, are a softmax too. A softmax over the numbers
that a layer puts out for each position, such as experts or classes, is none of attention, and is left out with a note.

**Numbers are known by where they lie.** Between the steps models view, split, transpose and expand tensors, in more
ways than could be followed. But a view shares the storage of its tensor, and a number's address there stays the same.
So what is remembered belongs to a storage, and `provenance.py` computes with sizes and strides (`layout.py`) which
dimension of the product is which dimension of the weights: which are queries and keys, and which stand before them.
Only the factors are kept, never a matrix of the scores' size.

**Heads are what the output says.** Of the axes before the queries some are heads, some items of the batch, some windows
of a picture, and code may hold several in one, in either order. No size tells them apart. So `outputs.py` follows each
output until the model puts the heads of a query in one row, for the projection behind the attention, and reads the
order from there. Outputs that are put together in one tensor were chunks of queries, heads or items of one call: they
become one trace. Where the output tells nothing, the trace's note says so.

**A trace is believed only if it is right.** `weighted_sum.py` builds one from the factors, computes its weights and its
context, and compares both with what the model had. Where they differ, or where the way back is not known, the trace
keeps the weights alone, and its note says so. The same is done for flex_attention.

**Names and notes.** `recorder.py` knows from torch's hooks which modules are running, and so what an attention is
called. It never raises: what cannot be recorded becomes a note of the recording, as do modules that call themselves
attention and in which none was seen. `trace_builder.py` builds the traces:
copies of one item of the batch, or of all; masks that several calls share are copied once.
"""

from attention_core.attention.capture.watch import capture, capture_into

__all__ = ["capture", "capture_into"]
