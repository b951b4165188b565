// SPDX-License-Identifier: GPL-3.0-or-later
// The faults that the demo training can have; no include guard, since each reader defines the macro of what it makes of
// the rows. A test holds names, places, strengths and how long they last against those of the Python demo, which has
// more: faults of several ranks that train one model, of routers, and of a loss scaler.

// TELLTALE_FAULT(kind, "name", where, which modules can have it, the one that has it when none is named, whether it
//     lasts, strength)
// where: Output of a module in the forward pass, Weights before it, Gradients of its parameters, Module and Training
// for what the fault does itself.
// clang-format off
TELLTALE_FAULT(Nan, "nan", Output, Any, "mlp.fc1", false, 0) // one element is NaN
TELLTALE_FAULT(Inf, "inf", Output, Any, "mlp.fc1", false, 0) // one element is +Inf
TELLTALE_FAULT(Spike, "spike", Output, Any, "mlp.fc1", false, 1000)
TELLTALE_FAULT(FlipOutput, "flip-output", Output, Matrix, "mlp.fc1", false, 0) // the exponent's top bit of one element
TELLTALE_FAULT(Zero, "zero", Output, Any, "mlp", true, 0)
TELLTALE_FAULT(NanBackward, "nan-backward", Output, Any, "mlp.fc2", false, 0) // one NaN in its backward pass
TELLTALE_FAULT(NanWeight, "nan-weight", Weights, Matrix, "mlp.fc2", false, 0) // one weight is NaN
TELLTALE_FAULT(FlipWeight, "flip-weight", Weights, Matrix, "mlp.fc1", false, 0) // bit 26 of one weight
TELLTALE_FAULT(QueryGrowth, "query-growth", Weights, Attention, "attn", true, 1.02) // a step
TELLTALE_FAULT(GradSpike, "grad-spike", Gradients, Parameters, "mlp.fc1", false, 100)
TELLTALE_FAULT(Freeze, "freeze", Module, Parameters, "mlp", true, 0)
TELLTALE_FAULT(EntropyCollapse, "entropy-collapse", Module, Attention, "attn", true, 1.25) // of the scores, a step
TELLTALE_FAULT(LogitGrowth, "logit-growth", Module, Attention, "attn", true, 1.02) // of queries and of keys, a step
TELLTALE_FAULT(LearningRate, "lr", Training, None, "", true, 10)
TELLTALE_FAULT(Lull, "lull", Training, None, "", false, 1e-3) // of the gradients, before the step
TELLTALE_FAULT(RepeatedToken, "repeated-token", Training, None, "", false, 0)
TELLTALE_FAULT(ResetMoments, "reset-moments", Training, None, "", false, 0)
// clang-format on
