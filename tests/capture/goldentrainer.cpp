// SPDX-License-Identifier: GPL-3.0-or-later
// A training that tests/python/test_golden_cpp.py repeats in PyTorch, step by step, with the same numbers.
// goldentrainer CONFIG STEPS MICROS: streams to TELLTALE_JOIN what the config asks for.
#include <cmath>
#include <cstdlib>
#include <string>

#include <torch/torch.h>

#include <telltale/torch/watch.h>

namespace {

/// Multiples of 1/8 between -1 and 1: sums and products of a few of them are exact in float, in any order.
torch::Tensor dyadic(at::IntArrayRef shape, int seed)
{
    auto values = torch::empty(shape);
    float* const data = values.data_ptr<float>();
    for (std::int64_t i = 0; i < values.numel(); ++i)
        data[i] = static_cast<float>((i * 5 + seed * 3) % 17 - 8) / 8.0f;
    return values;
}

struct Model : torch::nn::Module {
    Model()
        : first(4, 8)
        , second(8, 2)
    {
        register_module("first", first);
        register_module("second", second);
        torch::NoGradGuard noGrad;
        int seed = 0;
        for (auto& parameter : parameters())
            parameter.copy_(dyadic(parameter.sizes(), seed++));
    }
    torch::Tensor forward(const torch::Tensor& x, telltale::TrainerMon& monitor)
    {
        monitor.tap("first", x, telltale::Slot::input());
        auto hidden = first(x);
        monitor.tap("first", hidden);
        hidden = torch::relu(hidden);
        monitor.tap("second", hidden, telltale::Slot::input());
        auto out = second(hidden);
        monitor.tap("second", out);
        return out;
    }
    torch::nn::Linear first;
    torch::nn::Linear second;
};

}

int main(int argc, char** argv)
{
    if (argc != 4)
        return 2;
    const int steps = std::atoi(argv[2]);
    const int micros = std::atoi(argv[3]);
    torch::set_num_threads(1);
    Model model;
    torch::optim::Adam optimizer(model.parameters(), torch::optim::AdamOptions(0.03));
    telltale::ModelOptions options;
    options.gradAccSteps = micros;
    auto watch = telltale::watch(model, optimizer, argv[1], options);
    for (int step = 0; step < steps; ++step) {
        optimizer.zero_grad();
        double loss = 0;
        for (int micro = 0; micro < micros; ++micro) {
            auto out = model.forward(dyadic({ 3, 4 }, step * micros + micro), watch.monitor());
            auto error = out.square().sum();
            error.backward();
            loss += error.item<double>();
        }
        watch->log("loss", loss);
        watch->step();
    }
    return 0;
}
